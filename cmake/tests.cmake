# Unit tests: every tests/unit/test_*.c is one program that may see the library's inside.
pkg_check_modules(PLX_CMOCKA REQUIRED IMPORTED_TARGET cmocka)

file(GLOB PLX_UNIT_TESTS CONFIGURE_DEPENDS tests/unit/test_*.c)
foreach(source ${PLX_UNIT_TESTS})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE tests)
  target_link_libraries(${name} PRIVATE plx_objects PkgConfig::PLX_CMOCKA $<TARGET_NAME_IF_EXISTS:plx_references>)
  target_compile_options(${name} PRIVATE -Wno-missing-prototypes)
  add_test(NAME unit.${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT 300)
endforeach()

# Devices as shared objects, for what looks for them.
foreach(name near old)
  add_library(parallax_${name} MODULE tests/device/${name}_plugin.c)
  target_link_libraries(parallax_${name} PRIVATE plx_objects)
  set_target_properties(parallax_${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/devices)
  add_dependencies(test_device_session parallax_${name})
endforeach()
set_tests_properties(unit.test_device_session PROPERTIES ENVIRONMENT
  "PARALLAX_DEVICE_PATH=/nowhere:${CMAKE_BINARY_DIR}/devices")

# The self-test of devices, on the one that is none.
file(GLOB PLX_DEVICE_CHECKS CONFIGURE_DEPENDS gpu/check/check*.c)
add_executable(check_host_device tests/device/check_host.c ${PLX_DEVICE_CHECKS})
target_link_libraries(check_host_device PRIVATE plx_objects)
target_compile_options(check_host_device PRIVATE -Wno-conversion)
add_test(NAME device.table COMMAND check_host_device)
set_tests_properties(device.table PROPERTIES LABELS unit TIMEOUT 300)

# Examples: each is compiled like a stranger's program and run.
file(GLOB PLX_EXAMPLES CONFIGURE_DEPENDS examples/*.c)
foreach(source ${PLX_EXAMPLES})
  get_filename_component(name ${source} NAME_WE)
  add_executable(example_${name} ${source})
  target_link_libraries(example_${name} PRIVATE parallax plx_flags m)
  add_test(NAME example.${name} COMMAND example_${name})
  set_tests_properties(example.${name} PROPERTIES LABELS example TIMEOUT 60)
endforeach()

# Rules about the source tree, and the library as others meet it.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME docs.api COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/tools/gen_api_docs.py --check)
  add_test(NAME tree.messages COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/tools/check_messages.py)
  add_test(NAME tree.includes COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/tools/check_includes.py)
  add_test(NAME tree.sizes COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/tools/check_sizes.py)
  set_tests_properties(tree.includes tree.sizes PROPERTIES LABELS tree)
  if(BUILD_SHARED_LIBS AND NOT PLX_SANITIZE)
    add_test(NAME tree.symbols COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/tools/check_symbols.py
      $<TARGET_FILE:parallax> $<TARGET_OBJECTS:plx_objects> COMMAND_EXPAND_LISTS)
    add_test(NAME tree.dependencies COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/tools/check_dependencies.py
      $<TARGET_FILE:parallax>)
    set_tests_properties(tree.symbols tree.dependencies PROPERTIES LABELS tree)
  endif()
endif()
if(TARGET parallax-cli AND NOT PLX_SANITIZE)
  add_test(NAME install COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tests/install/run.sh ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  set_tests_properties(install PROPERTIES LABELS install TIMEOUT 300)
endif()
if(TARGET parallax-cli AND NOT PLX_SANITIZE)
  add_test(NAME interop COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tests/interop/run.sh $<TARGET_FILE:parallax-cli>
    ${CMAKE_CURRENT_SOURCE_DIR}/build/venv)
  set_tests_properties(interop PROPERTIES LABELS interop TIMEOUT 300 SKIP_RETURN_CODE 77)
  add_test(NAME story.reproduction COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tests/reproduce/run.sh ${CMAKE_CURRENT_SOURCE_DIR}
    $<TARGET_FILE:parallax-cli>)
  set_tests_properties(story.reproduction PROPERTIES LABELS cli TIMEOUT 300 SKIP_RETURN_CODE 77)
  if(BUILD_SHARED_LIBS)
    add_test(NAME python.quick COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tools/python_test.sh quick ${CMAKE_BINARY_DIR})
    set_tests_properties(python.quick PROPERTIES LABELS python TIMEOUT 600 SKIP_RETURN_CODE 77)
  endif()
endif()
if(TARGET parallax-cli AND NOT PLX_SANITIZE AND Python3_FOUND)
  add_test(NAME report.pages COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/tests/report/check_report.py
    $<TARGET_FILE:parallax-cli>)
  add_test(NAME report.browser COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/tests/report/check_browser.py
    $<TARGET_FILE:parallax-cli>)
  set_tests_properties(report.pages report.browser PROPERTIES LABELS report TIMEOUT 300 SKIP_RETURN_CODE 77)
endif()
include(cmake/border_test.cmake)
include(cmake/readme_tests.cmake)
include(cmake/contract_tests.cmake)

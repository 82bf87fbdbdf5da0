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
  if(BUILD_SHARED_LIBS AND NOT PLX_SANITIZE)
    add_test(NAME tree.symbols COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/tools/check_symbols.py
      $<TARGET_FILE:parallax> $<TARGET_OBJECTS:plx_objects> COMMAND_EXPAND_LISTS)
    add_test(NAME tree.dependencies COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/tools/check_dependencies.py
      $<TARGET_FILE:parallax>)
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
endif()
include(cmake/border_test.cmake)
include(cmake/readme_tests.cmake)
include(cmake/contract_tests.cmake)

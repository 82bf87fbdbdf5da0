# Contract suite: one test per method of the registry. Golden cases: one test per case directory, run through the command.
file(GLOB PLX_CONTRACT_SOURCES CONFIGURE_DEPENDS tests/contract/*.c)
add_executable(contract ${PLX_CONTRACT_SOURCES})
target_include_directories(contract PRIVATE tests/contract)
target_link_libraries(contract PRIVATE plx_objects)

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/methods/methods.def)
file(STRINGS src/methods/methods.def PLX_METHOD_LINES REGEX "^PLX__METHOD")
foreach(line ${PLX_METHOD_LINES})
  string(REGEX REPLACE "^PLX__METHOD\\(([a-z0-9_]+)\\).*" "\\1" method "${line}")
  add_test(NAME contract.${method} COMMAND contract ${method})
  set_tests_properties(contract.${method} PROPERTIES LABELS contract TIMEOUT 600
    ENVIRONMENT "PLX_SOURCE_DIR=${CMAKE_CURRENT_SOURCE_DIR}")
endforeach()

find_package(Python3 COMPONENTS Interpreter)
if(TARGET parallax-cli AND Python3_FOUND)
  file(GLOB PLX_CASES CONFIGURE_DEPENDS tests/cases/*/*/case.json)
  foreach(case ${PLX_CASES})
    get_filename_component(directory ${case} DIRECTORY)
    get_filename_component(name ${directory} NAME)
    get_filename_component(parent ${directory} DIRECTORY)
    get_filename_component(method ${parent} NAME)
    add_test(NAME case.${method}.${name}
      COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/tests/run_cases.py $<TARGET_FILE:parallax-cli> ${directory})
    set_tests_properties(case.${method}.${name} PROPERTIES LABELS case TIMEOUT 120)
  endforeach()
  # The same through the table of devices, of the methods that use one.
  foreach(method gp bct rls spectral smd kcca mrknn lapreg laprls llreg mvll hybridtree mvkmeans mvplsa coem)
    add_test(NAME device.${method} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/tests/run_cases.py
      $<TARGET_FILE:parallax-cli> --device host ${CMAKE_CURRENT_SOURCE_DIR}/tests/cases/${method})
    set_tests_properties(device.${method} PROPERTIES LABELS case TIMEOUT 300)
  endforeach()
endif()

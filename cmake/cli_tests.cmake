# Cases of the command line: every tests/cli/NAME/cmd is one test, cli.NAME.
file(GLOB PLX_CLI_CASES CONFIGURE_DEPENDS tests/cli/*/cmd)
find_program(PLX_BASH bash)
if(TARGET parallax-cli AND PLX_BASH)
  foreach(script ${PLX_CLI_CASES})
    get_filename_component(directory ${script} DIRECTORY)
    get_filename_component(name ${directory} NAME)
    add_test(NAME cli.${name}
      COMMAND ${PLX_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/tests/cli/run.sh $<TARGET_FILE:parallax-cli> ${directory})
    set_tests_properties(cli.${name} PROPERTIES LABELS cli TIMEOUT 300)
  endforeach()
endif()

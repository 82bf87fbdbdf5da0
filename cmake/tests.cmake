# Unit tests: every tests/unit/test_*.c is one program that may see the library's inside.
pkg_check_modules(PLX_CMOCKA REQUIRED IMPORTED_TARGET cmocka)

file(GLOB PLX_UNIT_TESTS CONFIGURE_DEPENDS tests/unit/test_*.c)
foreach(source ${PLX_UNIT_TESTS})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE tests)
  target_link_libraries(${name} PRIVATE plx_objects PkgConfig::PLX_CMOCKA)
  target_compile_options(${name} PRIVATE -Wno-missing-prototypes)
  add_test(NAME unit.${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT 300)
endforeach()

include(cmake/contract_tests.cmake)

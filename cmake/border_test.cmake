# The border: every exported function is called with each pointer NULL and everything else out of range. The calls are
# written from tools/symbols.txt and the public headers, so a new function is in the test without an edit here.
if(Python3_FOUND)
  set(PLX_BORDER_CALLS ${CMAKE_BINARY_DIR}/border_calls.c)
  add_custom_command(OUTPUT ${PLX_BORDER_CALLS}
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/tests/border/gen_border.py ${PLX_BORDER_CALLS}
    DEPENDS tests/border/gen_border.py tools/public_headers.py tools/symbols.txt ${PLX_HEADERS} include/parallax/version.h.in)
  add_executable(border tests/border/border.c ${PLX_BORDER_CALLS})
  target_include_directories(border PRIVATE tests/border)
  target_link_libraries(border PRIVATE parallax plx_flags m)
  set_source_files_properties(${PLX_BORDER_CALLS} PROPERTIES COMPILE_OPTIONS "-w")
  add_test(NAME border COMMAND border)
  set_tests_properties(border PROPERTIES LABELS unit TIMEOUT 300)
endif()

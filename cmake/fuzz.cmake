# Fuzz targets: every tests/fuzz/fuzz_NAME.c is one, with seeds in tests/fuzz/corpus/NAME.
#
#   replay_NAME   in every test build, any compiler: runs the target over its seeds and damaged copies of them (test
#                 fuzz.replay_NAME). libhdf5 and matio have faults of their own on damaged files: there, seeds only.
#   fuzz_NAME     with PLX_BUILD_FUZZ, clang: the libFuzzer program, e.g.
#                 CC=clang cmake -B build/fuzz -G Ninja -DPLX_BUILD_FUZZ=ON && cmake --build build/fuzz
#                 build/fuzz/fuzz_csv -max_total_time=120 /tmp/found tests/fuzz/corpus/csv
file(GLOB PLX_FUZZ_SOURCES CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)

function(plx_add_replay name source)
  add_executable(replay_${name} ${source} tests/fuzz/replay_main.c)
  target_link_libraries(replay_${name} PRIVATE plx_objects)
  set(mutants 2000)
  if(name STREQUAL "manifest")
    set(mutants 300)
  elseif(name STREQUAL "ner") # a model is trained for each
    set(mutants 15)
  elseif(name MATCHES "^(h5mu|mat|model)$")
    set(mutants 0)
  endif()
  add_test(NAME fuzz.replay_${name} COMMAND replay_${name} --mutate ${mutants} ${CMAKE_CURRENT_SOURCE_DIR}/tests/fuzz/corpus/${name})
  set_tests_properties(fuzz.replay_${name} PROPERTIES LABELS fuzz TIMEOUT 120)
endfunction()

function(plx_add_fuzzer name source)
  add_executable(fuzz_${name} ${source})
  target_link_libraries(fuzz_${name} PRIVATE plx_fuzz_objects)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer,address,undefined)
endfunction()

if(PLX_BUILD_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "PLX_BUILD_FUZZ needs clang: libFuzzer comes with it")
  endif()
  # The library once more, instrumented; chunks of text so small that short inputs have many.
  add_library(plx_fuzz_objects OBJECT ${PLX_SOURCES})
  target_include_directories(plx_fuzz_objects PUBLIC
    ${CMAKE_CURRENT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR}/include ${CMAKE_CURRENT_BINARY_DIR}/include)
  target_link_libraries(plx_fuzz_objects PUBLIC plx_flags plx_dependencies OpenMP::OpenMP_C)
  target_compile_definitions(plx_fuzz_objects PUBLIC PLX_CHECKED PLX__TEXT_CHUNK_LEAST=16)
  target_compile_options(plx_fuzz_objects PUBLIC
    -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
endif()

foreach(source ${PLX_FUZZ_SOURCES})
  get_filename_component(name ${source} NAME_WE)
  string(REPLACE "fuzz_" "" name ${name})
  if(PLX_BUILD_TESTS)
    plx_add_replay(${name} ${source})
  endif()
  if(PLX_BUILD_FUZZ)
    plx_add_fuzzer(${name} ${source})
  endif()
endforeach()

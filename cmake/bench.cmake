# Benchmarks: every bench/bench_*.c is one program that may see the library's inside.
file(GLOB PLX_BENCHES CONFIGURE_DEPENDS bench/bench_*.c)
foreach(source ${PLX_BENCHES})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE plx_objects $<TARGET_NAME_IF_EXISTS:plx_references>)
  target_compile_options(${name} PRIVATE -Wno-missing-prototypes)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
endforeach()

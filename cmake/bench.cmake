# Every bench/bench_*.c is a program build/bench/NAME; `make bench` builds and runs them. They use
# the archive: some measure what the public interface does not tell. The archive that wheels are made of
# has none.

file(GLOB bench_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/bench_*.c")
# These go over the recorded cases of the tests.
if(NOT TARGET test_support_files)
  list(FILTER bench_files EXCLUDE REGEX "/bench_(sweep|deadlines)\\.c$")
endif()
if(NOT TARGET rheos_mpi)
  list(FILTER bench_files EXCLUDE REGEX "/bench_ranks\\.c$")
endif()
add_custom_target(benchmarks)
foreach(file IN LISTS bench_files)
  get_filename_component(name "${file}" NAME_WE)
  add_executable(${name} EXCLUDE_FROM_ALL "${file}")
  target_link_libraries(${name} PRIVATE rheos_internal m)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench")
  add_dependencies(benchmarks ${name})
endforeach()
if(TARGET bench_ranks)
  target_link_libraries(bench_ranks PRIVATE MPI::MPI_C)
  add_dependencies(bench_ranks rheos_mpi)
endif()
# The loops that the library's are compared with have all that this processor can do.
if(TARGET bench_loops AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|aarch64")
  foreach(name bench_chains bench_loops)
    target_compile_options(${name} PRIVATE -O3 -march=native -ffast-math)
  endforeach()
endif()
if(TARGET bench_sweep)
  target_sources(bench_sweep PRIVATE "${PROJECT_SOURCE_DIR}/bench/one_kernel.c")
  foreach(name bench_sweep bench_deadlines)
    target_sources(${name} PRIVATE "${PROJECT_SOURCE_DIR}/bench/recorded_case.c"
                                   $<TARGET_OBJECTS:test_support_files>)
    target_link_libraries(${name} PRIVATE test_support)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL OFF)
    # bench_deadlines limits the address space, of which sanitizers want all.
    if(NOT (RHEOS_SANITIZE AND name STREQUAL "bench_deadlines"))
      add_test(NAME ${name} COMMAND ${name} --smoke WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    endif()
  endforeach()
endif()

# librheos-mpi.so: bytes between the ranks that mpirun starts, by MPI. Built where its headers are
# (Debian: libopenmpi-dev), and looked for at run time beside librheos.so, in processes that mpirun
# has started. Sanitizers see errors in MPI that are not ours: their builds have none.

if(RHEOS_WITH_MPI AND NOT RHEOS_FUZZ AND NOT RHEOS_SANITIZE)
  find_package(MPI QUIET COMPONENTS C)
endif()
if(MPI_C_FOUND AND RHEOS_WITH_MPI AND NOT RHEOS_FUZZ AND NOT RHEOS_SANITIZE)
  file(GLOB mpi_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/net/mpi/*.c")
  add_library(rheos_mpi MODULE ${mpi_sources})
  set_target_properties(rheos_mpi PROPERTIES PREFIX "lib" OUTPUT_NAME "rheos-mpi")
  target_include_directories(rheos_mpi
    PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(rheos_mpi PRIVATE MPI::MPI_C Threads::Threads ${CMAKE_DL_LIBS})
endif()

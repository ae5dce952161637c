# librheos-grpc.so: calls between the processes of a cluster, by gRPC's C core. Built where its
# headers are (Debian: libgrpc-dev), and looked for at run time beside librheos.so, which says what
# to install where a program needs it and it is not there. The thread sanitizer cannot see into gRPC:
# its build has a transport within the process instead, so that the tests of clusters run there too.

if(RHEOS_SANITIZE MATCHES "thread" AND RHEOS_BUILD_TESTS)
  add_library(rheos_grpc MODULE "${PROJECT_SOURCE_DIR}/tests/net/local/local_transport.c")
  set_target_properties(rheos_grpc PROPERTIES PREFIX "lib" OUTPUT_NAME "rheos-grpc")
  target_include_directories(rheos_grpc
    PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(rheos_grpc PRIVATE Threads::Threads)
elseif(RHEOS_WITH_GRPC AND NOT RHEOS_FUZZ)
  find_path(GRPC_INCLUDE_DIR grpc/grpc.h)
  find_library(GRPC_LIBRARY NAMES grpc)
  find_library(GPR_LIBRARY NAMES gpr)
  mark_as_advanced(GRPC_INCLUDE_DIR GRPC_LIBRARY GPR_LIBRARY)
endif()
if(RHEOS_WITH_GRPC AND GRPC_INCLUDE_DIR AND GRPC_LIBRARY AND GPR_LIBRARY AND NOT RHEOS_FUZZ AND
   NOT TARGET rheos_grpc)
  file(GLOB grpc_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/net/grpc/*.c")
  add_library(rheos_grpc MODULE ${grpc_sources})
  set_target_properties(rheos_grpc PROPERTIES PREFIX "lib" OUTPUT_NAME "rheos-grpc")
  target_include_directories(rheos_grpc SYSTEM PRIVATE "${GRPC_INCLUDE_DIR}")
  target_include_directories(rheos_grpc
    PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(rheos_grpc PRIVATE "${GRPC_LIBRARY}" "${GPR_LIBRARY}" Threads::Threads)
endif()

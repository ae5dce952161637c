# Graphics cards, by OpenCL: its headers alone (Debian: opencl-headers), for its library is opened at
# run time. What kernels are made of, src/device/opencl/*.cl and formulas of ops, becomes arrays of characters.

if(RHEOS_WITH_OPENCL)
  find_path(OPENCL_INCLUDE_DIR CL/cl.h)
  mark_as_advanced(OPENCL_INCLUDE_DIR)
  if(NOT OPENCL_INCLUDE_DIR)
    set(RHEOS_WITH_OPENCL OFF)
  endif()
endif()

if(RHEOS_WITH_OPENCL)
  file(GLOB opencl_kernels CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/device/opencl/*.cl"
    "${PROJECT_SOURCE_DIR}/src/ops/*/*_formulas.h" "${PROJECT_SOURCE_DIR}/src/ops/kit/special_*.c")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${opencl_kernels})
  foreach(kernels IN LISTS opencl_kernels)
    get_filename_component(name "${kernels}" NAME_WE)
    file(READ "${kernels}" bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/generated/opencl/${name}.inc"
      CONTENT "static const char rheos__cl_${name}[] = {${bytes}0};\n")
  endforeach()
endif()

# Every examples/NAME.c, and every folder examples/NAME/ with C files, is a program build/bin/NAME
# that uses the shared library as any other program would.

file(GLOB example_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.c")
foreach(file IN LISTS example_files)
  get_filename_component(name "${file}" NAME_WE)
  add_executable(${name} "${file}")
  target_link_libraries(${name} PRIVATE rheos m)
endforeach()

file(GLOB example_folders CONFIGURE_DEPENDS LIST_DIRECTORIES true
  "${PROJECT_SOURCE_DIR}/examples/*")
foreach(folder IN LISTS example_folders)
  if(IS_DIRECTORY "${folder}")
    file(GLOB files CONFIGURE_DEPENDS "${folder}/*.c")
    if(files)
      get_filename_component(name "${folder}" NAME)
      add_executable(${name} ${files})
      target_link_libraries(${name} PRIVATE rheos m)
    endif()
  endif()
endforeach()

# examples/NAME.cc, the same in C++, is build/bin/NAME_cpp; where there is no C++ compiler, none is.
if(NOT SKBUILD AND NOT RHEOS_FUZZ AND NOT CMAKE_CROSSCOMPILING)
  include(CheckLanguage)
  check_language(CXX)
endif()
file(GLOB cpp_example_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.cc")
if(CMAKE_CXX_COMPILER)
  enable_language(CXX)
  foreach(file IN LISTS cpp_example_files)
    get_filename_component(name "${file}" NAME_WE)
    add_executable(${name}_cpp "${file}")
    target_link_libraries(${name}_cpp PRIVATE rheos)
    set_target_properties(${name}_cpp PROPERTIES CXX_STANDARD 17 CXX_EXTENSIONS OFF)
  endforeach()
endif()

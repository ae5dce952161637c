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

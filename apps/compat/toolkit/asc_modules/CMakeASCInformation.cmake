# SPDX-License-Identifier: Apache-2.0
# How an object of the language is made and how a program is linked. `npusim cc` has one way of
# optimising, which is why the options of targets do not get there; folders and definitions do.
get_filename_component(NPUSIM_TOOLKIT "${CMAKE_CURRENT_LIST_DIR}/../../.." REALPATH)
set(CMAKE_INCLUDE_FLAG_ASC "-I")
set(CMAKE_INCLUDE_SYSTEM_FLAG_ASC "-I")
set(CMAKE_ASC_OUTPUT_EXTENSION .o)
set(CMAKE_ASC_COMPILE_OBJECT
  "<CMAKE_ASC_COMPILER> cc <SOURCE> --host <DEFINES> <INCLUDES> -o <OBJECT>")
set(library "${NPUSIM_TOOLKIT}/lib64")
set(CMAKE_ASC_LINK_EXECUTABLE
  "\"${CMAKE_ASC_LINKER}\" <CMAKE_ASC_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES> \"${library}/libascendcl.so\" \"-Wl,-rpath,${library}\"")
set(CMAKE_ASC_CREATE_SHARED_LIBRARY
  "\"${CMAKE_ASC_LINKER}\" -shared <CMAKE_SHARED_LIBRARY_CXX_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES> \"${library}/libascendcl.so\" \"-Wl,-rpath,${library}\"")
set(CMAKE_ASC_CREATE_STATIC_LIBRARY "<CMAKE_AR> qc <TARGET> <OBJECTS>" "<CMAKE_RANLIB> <TARGET>")
set(CMAKE_ASC_INFORMATION_LOADED 1)

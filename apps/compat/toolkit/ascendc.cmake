# SPDX-License-Identifier: Apache-2.0
# Kernels in AscendC in projects of CMake, by the names of the vendor's commands: `npusim cc` compiles
# them (docs/ascendc.md).
#
#   ascendc_library(NAME STATIC|SHARED SOURCE...)   kernels, and functions that launch them by <<<>>>
#   ascendc_fatbin_library(NAME SOURCE)             a file for aclrtBinaryLoadFromFile(), installed as
#                                                   fatbin/NAME/NAME.o
#   ascendc_include_directories(NAME SCOPE FOLDER...), ascendc_compile_definitions(NAME SCOPE NAME...)
#   ascendc_compile_options(NAME SCOPE OPTION...)   -I and -D; others do not matter to npusim cc
#   host_intf_pub                                   what a program that loads kernels is linked to
include_guard(GLOBAL)
get_filename_component(NPUSIM_TOOLKIT "${CMAKE_CURRENT_LIST_DIR}/../.." REALPATH)
find_program(NPUSIM_PROGRAM npusim HINTS "${NPUSIM_TOOLKIT}/../../../bin" REQUIRED)

# Made here and not in a function, as the vendor's.
if(NOT TARGET host_intf_pub)
  add_library(host_intf_pub INTERFACE)
  target_include_directories(host_intf_pub INTERFACE "${NPUSIM_TOOLKIT}/include")
  target_link_libraries(host_intf_pub INTERFACE "${NPUSIM_TOOLKIT}/lib64/libascendcl.so")
endif()

# OUTPUT from SOURCE, with what the target NAME says of folders and definitions.
function(npusim_compile_kernels name output source)
  set(folders "$<TARGET_PROPERTY:${name},INCLUDE_DIRECTORIES>")
  set(definitions "$<TARGET_PROPERTY:${name},COMPILE_DEFINITIONS>")
  add_custom_command(OUTPUT "${output}" DEPENDS "${source}" "${NPUSIM_PROGRAM}"
    COMMAND "${NPUSIM_PROGRAM}" cc "${source}" ${ARGN} -o "${output}"
      "$<$<BOOL:${folders}>:-I$<JOIN:${folders},;-I>>"
      "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
    COMMENT "Compiling kernels of ${source}" COMMAND_EXPAND_LISTS VERBATIM)
endfunction()

function(ascendc_library name type)
  set(objects)
  foreach(source IN LISTS ARGN)
    get_filename_component(source "${source}" ABSOLUTE)
    get_filename_component(stem "${source}" NAME_WE)
    list(LENGTH objects count)
    set(object "${CMAKE_CURRENT_BINARY_DIR}/${name}_kernels/${count}_${stem}.o")
    npusim_compile_kernels(${name} "${object}" "${source}" --host)
    list(APPEND objects "${object}")
  endforeach()
  file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/${name}_kernels")
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  add_library(${name} ${type} ${objects})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${name} PUBLIC host_intf_pub)
endfunction()

function(ascendc_fatbin_library name source)
  if(ARGN)
    message(FATAL_ERROR "ascendc_fatbin_library(${name}): one source, found ${source} ${ARGN}")
  endif()
  get_filename_component(source "${source}" ABSOLUTE)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/fatbin/${name}")
  file(MAKE_DIRECTORY "${folder}")
  add_custom_target(${name} ALL DEPENDS "${folder}/${name}.o")
  # A target without sources has no folders of its own; the directory's are these.
  set_target_properties(${name} PROPERTIES
    INCLUDE_DIRECTORIES "$<TARGET_PROPERTY:${name}_options,INTERFACE_INCLUDE_DIRECTORIES>"
    COMPILE_DEFINITIONS "$<TARGET_PROPERTY:${name}_options,INTERFACE_COMPILE_DEFINITIONS>")
  add_library(${name}_options INTERFACE)
  npusim_compile_kernels(${name} "${folder}/${name}.o" "${source}")
  install(FILES "${folder}/${name}.o" DESTINATION "${CMAKE_INSTALL_PREFIX}/fatbin/${name}")
endfunction()

# Of a library the target, of a file of kernels the one that stands for it.
macro(npusim_options_of name)
  set(target ${name})
  set(scope PRIVATE)
  if(TARGET ${name}_options)
    set(target ${name}_options)
    set(scope INTERFACE)
  endif()
endmacro()
function(ascendc_include_directories name given)
  npusim_options_of(${name})
  target_include_directories(${target} ${scope} ${ARGN})
endfunction()
function(ascendc_compile_definitions name given)
  npusim_options_of(${name})
  target_compile_definitions(${target} ${scope} ${ARGN})
endfunction()
function(ascendc_compile_options name given)
  npusim_options_of(${name})
  foreach(option IN LISTS ARGN)
    if(option MATCHES "^-D(.+)$")
      target_compile_definitions(${target} ${scope} "${CMAKE_MATCH_1}")
    elseif(option MATCHES "^-I(.+)$")
      target_include_directories(${target} ${scope} "${CMAKE_MATCH_1}")
    endif()
  endforeach()
endfunction()

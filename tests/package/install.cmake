# SPDX-License-Identifier: Apache-2.0
# cmake -D BUILD=... -D SOURCE=... -D WORK=... -P install.cmake
# Installs, and moves the result, so that nothing can lean on the place it was installed to.
file(REMOVE_RECURSE ${WORK})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/installed
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${WORK}/installed ${WORK}/prefix)

file(GLOB_RECURSE texts ${WORK}/prefix/*.cmake ${WORK}/prefix/*.pc ${WORK}/prefix/*.hpp
  ${WORK}/prefix/*.yaml ${WORK}/prefix/*.py)
if(NOT texts)
  message(FATAL_ERROR "nothing was installed")
endif()
foreach(text IN LISTS texts)
  file(READ ${text} content)
  foreach(place ${SOURCE} ${BUILD} ${WORK}/installed)
    string(FIND "${content}" ${place} found)
    if(NOT found EQUAL -1)
      message(FATAL_ERROR "${text} names ${place}")
    endif()
  endforeach()
endforeach()

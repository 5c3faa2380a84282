# cmake -DSOURCE_DIR= -DPROJECT_VERSION= -DINPUT= -DOUTPUT= -P version.cmake
# Run at each build, not at configure time: the commit changes in between. Writes only what has changed.
set(GIT_COMMIT unknown)
set(GIT_DIRTY false)
find_program(GIT git)
if(GIT)
  set(git ${GIT} -C ${SOURCE_DIR} -c safe.directory=*)
  execute_process(COMMAND ${git} rev-parse --short=12 HEAD
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(GIT_COMMIT ${commit})
    execute_process(COMMAND ${git} status --porcelain --untracked-files=no
      OUTPUT_VARIABLE changes ERROR_QUIET)
    if(changes)
      set(GIT_DIRTY true)
    endif()
  endif()
endif()
configure_file(${INPUT} ${OUTPUT} @ONLY)

# The few functions that every CMakeLists.txt here uses.
include(GNUInstallDirs)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CUDA_STANDARD 17)  # CMake 3.25 knows no later standard; a CUDA build of libtorch would use CMAKE_CXX_STANDARD
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(PARDEC_CCACHE ccache)
if(PARDEC_CCACHE)
  # ccache handles precompiled headers only with these two settings. It gets the includes of a file from the compiler (CCACHE_DEPEND),
  # since preprocessing each file first took an eighth of a build's time.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1 ${PARDEC_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endif()

add_library(pardec_warnings INTERFACE)
add_library(pardec::warnings ALIAS pardec_warnings)
target_compile_options(pardec_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow
                       -Wno-missing-field-initializers $<$<BOOL:${PARDEC_WERROR}>:-Werror>
                       # g++ 12 warns of strings without reason (GCC bug 105329), and takes sources of a unity build for headers.
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-stringop-overflow;-Wno-array-bounds;-Wno-subobject-linkage>)

if(PARDEC_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined> $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=undefined>)
  add_link_options(-fsanitize=address,undefined)
endif()

# A release compiles sources that compute little with -O1: in two thirds of the time, without a noticeable cost when they run.
function(pardec_compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# One precompiled header of the standard library and JSON for all targets without libtorch. The builds of the core and of the fuzz
# targets have none: they show that each file includes what it uses.
if(NOT PARDEC_CORE AND NOT PARDEC_FUZZ)
  add_library(pardec_pch OBJECT ${PROJECT_SOURCE_DIR}/src/support/precompiled.cpp)
  target_link_libraries(pardec_pch PRIVATE nlohmann_json::nlohmann_json pardec::warnings)  # flags decide which macros are defined
  target_compile_features(pardec_pch PUBLIC cxx_std_20)
  target_precompile_headers(pardec_pch PRIVATE ${PROJECT_SOURCE_DIR}/src/support/precompiled.hpp)
endif()
function(pardec_precompile target)
  if(TARGET pardec_pch)
    target_precompile_headers(${target} REUSE_FROM pardec_pch)
  endif()
endfunction()

# Several sources of a target are compiled as one file (unity build): in half the time, since common headers are compiled once. So a name
# in an unnamed namespace must be unique in its target, except in files that are compiled alone (`alone`; SEPARATE: all files of a target).
# The builds of the core and of the fuzz targets are not unity builds.
function(pardec_join_sources target alone)
  if(PARDEC_JOIN_SOURCES AND NOT PARDEC_CORE AND NOT PARDEC_FUZZ)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 20)
    if(alone)
      set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endif()
endfunction()

# pardec_library(NAME SOURCES a.cpp ... [ALONE b.cpp ...] USES pardec::other ... [TORCH] [LIGHT] [OWN_HEADERS] [SEPARATE])
# ALONE: more sources, which are not joined with others. TORCH: the sources include libtorch, and share its precompiled header. LIGHT: they
# compute little. OWN_HEADERS: no precompiled header, or another one; needed if sources have their own compiler flags.
function(pardec_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH;LIGHT;OWN_HEADERS;SEPARATE" "" "SOURCES;ALONE;USES")
  add_library(pardec_${name} STATIC ${arg_SOURCES} ${arg_ALONE})
  add_library(pardec::${name} ALIAS pardec_${name})
  target_compile_features(pardec_${name} PUBLIC cxx_std_20)
  target_include_directories(pardec_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/pardec>)
  target_link_libraries(pardec_${name} PUBLIC ${arg_USES} PRIVATE pardec::warnings)
  if(arg_TORCH)
    pardec_use_torch(pardec_${name})
  elseif(NOT arg_OWN_HEADERS)
    pardec_precompile(pardec_${name})
  endif()
  if(NOT arg_SEPARATE)
    pardec_join_sources(pardec_${name} "${arg_ALONE}")
  endif()
  if(arg_LIGHT)
    pardec_compile_quickly(pardec_${name})
  endif()
endfunction()

# pardec_embed(FILE HEADER FUNCTION): makes FUNCTION.cpp in the build folder, with the function of HEADER (const char* FUNCTION()) that
# returns the text of FILE.
function(pardec_embed file header function)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
  cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE shown)
  add_custom_command(
    OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DFILE=${file} -DCPP=${source} -DHEADER=${header} -DFUNCTION=${function}
            -P ${PROJECT_SOURCE_DIR}/src/cmake/embed.cmake
    DEPENDS ${file} ${PROJECT_SOURCE_DIR}/src/cmake/embed.cmake
    COMMENT "Embedding ${shown}")
endfunction()

# pardec_probe(NAME SOURCES a.cpp ... USES pardec::other ... [TORCH] [HEAVY]): a program that tests in Python start. HEAVY: as for pardec_test.
function(pardec_probe name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH;HEAVY" "" "SOURCES;USES")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_USES} pardec::warnings)
  if(arg_TORCH)
    pardec_use_torch(${name})
  else()
    pardec_precompile(${name})
  endif()
  if(NOT arg_HEAVY)
    pardec_compile_quickly(${name})
  endif()
endfunction()

# pardec_test(NAME LABEL unit [COST seconds] SOURCES a.cpp ... USES pardec::other ... [TORCH] [HEAVY] [OWN_HEADERS] [SEPARATE]
#             [TOGETHER])
# One Catch2 executable, which is one test with that label in CTest. COST: approximate seconds of a long test; the longest start first.
# TOGETHER: mpirun may start it as several processes (pardec_under_mpirun).
# HEAVY: its own sources compute much (slow references, kernels on the host).
function(pardec_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH;HEAVY;OWN_HEADERS;SEPARATE;TOGETHER" "LABEL;COST" "SOURCES;USES")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  set(main catch_main)
  if(arg_TOGETHER)
    set(main ranks_main)
  endif()
  target_link_libraries(${name} PRIVATE ${arg_USES} pardec::${main} pardec::warnings)
  if(arg_TORCH)
    pardec_use_torch(${name})
  elseif(NOT arg_OWN_HEADERS)
    target_precompile_headers(${name} REUSE_FROM pardec_test_pch)
  endif()
  if(NOT arg_SEPARATE)
    pardec_join_sources(${name} "")
  endif()
  if(NOT arg_HEAVY)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-Og>)
  endif()
  # A libtorch for the CPU alone can't run tests of a GPU. They are compiled by `gpu_tests`, which scripts/check-all builds.
  if(arg_LABEL STREQUAL gpu AND PARDEC_TORCH_KIND STREQUAL cpu)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    if(NOT TARGET gpu_tests)
      add_custom_target(gpu_tests)
    endif()
    add_dependencies(gpu_tests ${name})
    return()
  endif()
  add_test(NAME ${name} COMMAND ${name} -w NoTests)
  pardec_test_properties(${name} ${arg_LABEL} ${arg_COST})
endfunction()

# pardec_under_mpirun(NAME LABEL unit RANKS 2 3 [COST seconds]): the same executable, started by mpirun as several processes that compute
# each network together. One test for each number of processes: NAME_2, NAME_3. REQUIRES: pardec_test(NAME TOGETHER ...).
function(pardec_under_mpirun name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;COST" "RANKS")
  if(NOT MPI_CXX_FOUND)
    return()
  endif()
  foreach(ranks ${arg_RANKS})
    add_test(NAME ${name}_${ranks} COMMAND ${MPIEXEC_EXECUTABLE} --oversubscribe --bind-to none -n ${ranks} $<TARGET_FILE:${name}> -w NoTests)
    pardec_test_properties(${name}_${ranks} ${arg_LABEL} ${arg_COST})
    set_tests_properties(${name}_${ranks} PROPERTIES PROCESSORS ${ranks})
    # As in tests/cli/ranks.py.
    set_property(TEST ${name}_${ranks} APPEND PROPERTY ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
                 OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1)
  endforeach()
endfunction()

# pardec_pytest(NAME LABEL unit [COST seconds] [MAY_SKIP] FILES a_test.py ... [ARGS ...])
# The tests of some files, run by one call of pytest, as one test of ctest: the start of pytest, of the program and of large packages is paid
# once. ARGS select tests: -k NAME, -m whole. Exit 77 or a line "[skipped] ..." means that something is missing. MAY_SKIP: it needs
# something from the internet, so a skip is never a failure.
function(pardec_pytest name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MAY_SKIP" "LABEL;COST" "FILES;ARGS")
  list(TRANSFORM arg_FILES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  add_test(NAME ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
           COMMAND ${PARDEC_PYTHON} -m pytest --build ${PROJECT_BINARY_DIR} ${arg_ARGS} ${arg_FILES})
  pardec_test_properties(${name} ${arg_LABEL} ${arg_COST})
endfunction()

# A skip is a failure if PARDEC_TEST_DATA is set, since then nothing should be missing (except with MAY_SKIP). Tests run in parallel, so
# threads that wait for work sleep instead of occupying a core.
function(pardec_test_properties name label)
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 1500 ENVIRONMENT "PYTHONUNBUFFERED=1;OMP_WAIT_POLICY=passive")
  if(ARGC GREATER 2)
    set_tests_properties(${name} PROPERTIES COST ${ARGV2})
  endif()
  if(DEFINED ENV{PARDEC_TEST_DATA} AND NOT arg_MAY_SKIP)
    set_tests_properties(${name} PROPERTIES FAIL_REGULAR_EXPRESSION "\\[skipped\\]")
  else()
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "\\[skipped\\];No module named pytest" SKIP_RETURN_CODE 77)
  endif()
endfunction()

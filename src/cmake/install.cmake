# `cmake --install`: besides the program, the libraries that generation needs, with their headers, for find_package(pardec).
set(PARDEC_INSTALLED support group regular_expression hashing kernels tokenizer jinja prompt model_files model trace engine metrics decoders
                     datasets checkpoint tasks)
if(PARDEC_CUDA)
  list(APPEND PARDEC_INSTALLED kernels_cuda)
endif()
set(PARDEC_INSTALLED_FOLDERS src/support src/group src/kernels src/tokenizer src/jinja src/prompt src/model src/engine src/training src/checkpoint src/tasks
                             metrics decoders datasets)

add_library(pardec_pardec INTERFACE)  # what users link
target_link_libraries(pardec_pardec INTERFACE pardec::tasks)
set(installed_targets pardec_pardec pardec_warnings pardec_utf8proc pardec_libcsv)
foreach(name ${PARDEC_INSTALLED})
  set_target_properties(pardec_${name} PROPERTIES EXPORT_NAME ${name})
  list(APPEND installed_targets pardec_${name})
endforeach()
set_target_properties(pardec_pardec PROPERTIES EXPORT_NAME pardec)
set_target_properties(pardec_warnings PROPERTIES EXPORT_NAME warnings)
set_target_properties(pardec_utf8proc PROPERTIES EXPORT_NAME utf8proc)
set_target_properties(pardec_libcsv PROPERTIES EXPORT_NAME libcsv)

set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/pardec)
install(TARGETS ${installed_targets} EXPORT pardec ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/pardec COMPONENT library)
install(EXPORT pardec NAMESPACE pardec:: FILE pardecTargets.cmake DESTINATION ${config_folder} COMPONENT library)
foreach(folder ${PARDEC_INSTALLED_FOLDERS})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pardec/${folder} COMPONENT library
          FILES_MATCHING PATTERN "*.hpp")
endforeach()

include(CMakePackageConfigHelpers)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/pardecConfig.cmake.in ${PROJECT_BINARY_DIR}/pardecConfig.cmake
                              INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pardecConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/pardecConfig.cmake ${PROJECT_BINARY_DIR}/pardecConfigVersion.cmake DESTINATION ${config_folder} COMPONENT library)

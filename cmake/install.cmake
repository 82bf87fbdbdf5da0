include(CMakePackageConfigHelpers)

install(TARGETS parallax EXPORT parallaxTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET parallax-cli)
  install(TARGETS parallax-cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET parallax-mpi)
  install(TARGETS parallax-mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(TARGETS parallax-reader RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/parallax)
install(FILES ${PLX_HEADERS} ${CMAKE_CURRENT_BINARY_DIR}/include/parallax/version.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/parallax)
install(EXPORT parallaxTargets NAMESPACE parallax:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/parallax)

configure_package_config_file(cmake/parallaxConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/parallaxConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/parallax)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/parallaxConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/parallaxConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/parallaxConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/parallax)

# The prefix of the .pc file is found from where the file lies, so that `cmake --install --prefix` may choose any.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(PLX_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(PLX_PC_PREFIX "\${pcfiledir}/${up}")
endif()
string(REPLACE ";" " " PLX_PC_PRIVATE "${PLX_LINK_FLAGS}")
if(BUILD_SHARED_LIBS)
  set(PLX_PC_LIBS "-L\${libdir} -lparallax")
  set(PLX_PC_LIBS_PRIVATE "${PLX_PC_PRIVATE}")
else() # an archive needs them always, with or without pkg-config --static
  set(PLX_PC_LIBS "-L\${libdir} -lparallax ${PLX_PC_PRIVATE}")
  set(PLX_PC_LIBS_PRIVATE "")
endif()
configure_file(cmake/parallax.pc.in ${CMAKE_CURRENT_BINARY_DIR}/parallax.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/parallax.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Manual page and completion scripts, printed by the command itself after it is built, and where they are installed.
if(TARGET parallax-cli AND NOT CMAKE_CROSSCOMPILING)
  set(PLX_CLI_TEXTS ${CMAKE_CURRENT_BINARY_DIR}/texts)
  set(PLX_CLI_STAMP ${PLX_CLI_TEXTS}/stamp)
  add_custom_command(OUTPUT ${PLX_CLI_STAMP}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PLX_CLI_TEXTS}
    COMMAND $<TARGET_FILE:parallax-cli> man > ${PLX_CLI_TEXTS}/parallax.1
    COMMAND $<TARGET_FILE:parallax-cli> completion bash > ${PLX_CLI_TEXTS}/parallax
    COMMAND $<TARGET_FILE:parallax-cli> completion zsh > ${PLX_CLI_TEXTS}/_parallax
    COMMAND $<TARGET_FILE:parallax-cli> completion fish > ${PLX_CLI_TEXTS}/parallax.fish
    COMMAND ${CMAKE_COMMAND} -E touch ${PLX_CLI_STAMP}
    DEPENDS parallax-cli VERBATIM COMMENT "Printing the manual page and completion scripts")
  add_custom_target(parallax-cli-texts ALL DEPENDS ${PLX_CLI_STAMP})
  install(FILES ${PLX_CLI_TEXTS}/parallax.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${PLX_CLI_TEXTS}/parallax DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${PLX_CLI_TEXTS}/_parallax DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${PLX_CLI_TEXTS}/parallax.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

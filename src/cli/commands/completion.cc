// `fairlead completion SHELL` prints a short script; the script asks `fairlead __complete` for candidates on every tab,
// so that it never goes out of date and knows the contexts of the user's kubeconfig and the bundles in the cluster.
#include <cstdio>

#include "cli/commands/bundle_names.h"
#include "cli/commands/commands.h"
#include "cli/commands/complete.h"
#include "cli/core/connect.h"
#include "cli/core/exit_code.h"
#include "pipeline/read.h"

namespace fairlead::cli {
namespace {

// Candidates come a line each, "word<TAB>description"; a last line ":files" asks for file names too.
constexpr const char* kBash = R"(# fairlead completion for bash: source <(fairlead completion bash)
_fairlead() {
  local line words=("${COMP_WORDS[@]:1:COMP_CWORD}")
  # Bash makes words of their own of "=" and what follows it.
  if [[ ${COMP_CWORD} -ge 2 && ${COMP_WORDS[COMP_CWORD-1]} == "=" ]]; then
    words=("${COMP_WORDS[@]:1:COMP_CWORD-3}" "${COMP_WORDS[COMP_CWORD-2]}=${COMP_WORDS[COMP_CWORD]}")
  elif [[ ${COMP_CWORD} -ge 2 && ${COMP_WORDS[COMP_CWORD]} == "=" ]]; then
    words=("${COMP_WORDS[@]:1:COMP_CWORD-2}" "${COMP_WORDS[COMP_CWORD-1]}=")
  fi
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
    else
      line=${line%%$'\t'*}
      [[ ${words[-1]} == --*=* ]] && line=${line#*=}
      COMPREPLY+=("$line")
    fi
  done < <("${COMP_WORDS[0]}" __complete -- "${words[@]}" 2>/dev/null)
}
complete -F _fairlead fairlead
)";

constexpr const char* kZsh = R"(#compdef fairlead
# fairlead completion for zsh: source <(fairlead completion zsh)
_fairlead() {
  local line
  local -a candidates
  local files=0
  while IFS= read -r line; do
    if [[ $line == :files ]]; then files=1
    else candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}"); fi
  done < <("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
  (( ${#candidates} )) && _describe fairlead candidates
  (( files )) && _files
}
(( $+functions[compdef] )) && compdef _fairlead fairlead
)";

constexpr const char* kFish = R"(# fairlead completion for fish: fairlead completion fish | source
function __fairlead_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in ($words[1] __complete -- $words[2..-1] 2>/dev/null)
    if test "$line" = ":files"
      __fish_complete_path (commandline -ct)
    else
      echo $line
    end
  end
end
complete -c fairlead -f -a '(__fairlead_complete)'
)";

// The phases of the first word that is a pipeline.
std::vector<std::string> phases_of(std::span<const std::string> words) {
  for (const std::string& word : words)
    if (std::vector<std::string> phases = pipeline::phase_names(word); !phases.empty()) return phases;
  return {};
}

}  // namespace

int print_candidates(Command app, std::span<const std::string> words) {
  auto values_of = [&](const std::string& option) {
    if (option == "PHASE" || option == "--from") return phases_of(words);
    bool is_bundle = option == "NAME" || option == "--name";
    return is_bundle ? bundle_names(words) : kubeconfig_names(option);
  };
  Candidates found = complete(app, {words.begin(), words.end()}, values_of);
  for (const Candidate& candidate : found.words)
    std::printf("%s\t%s\n", candidate.word.c_str(), candidate.description.c_str());
  if (found.files) std::puts(":files");
  return kDone;
}

void add_completion(Command app, Invocation& invocation) {
  auto shell = std::make_shared<std::string>();
  Command command = app.subcommand("completion", "Print the completion script of a shell");
  command.option("SHELL", *shell, "bash, zsh or fish").required().one_of({"bash", "zsh", "fish"});
  command.footer(
      "Examples:\n"
      "  source <(fairlead completion bash)\n"
      "  source <(fairlead completion zsh)\n"
      "  fairlead completion fish | source");
  command.when_chosen([&invocation, shell] {
    invocation.run = [shell] {
      std::fputs(*shell == "bash" ? kBash : *shell == "zsh" ? kZsh : kFish, stdout);
      return kDone;
    };
  });
}

}  // namespace fairlead::cli

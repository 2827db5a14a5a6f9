// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "npu/base/shortened.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/completion.hpp"
#include "tools/cli/output.hpp"

namespace npu::cli {
namespace {

// The scripts know nothing of npusim: they ask the program that is being called. Its first line
// says what the shell has to add.
const char* const kBash = R"(# bash completion for npusim; printed by: npusim completion bash
_npusim() {
  local program=${1/#\~/$HOME} says at=${COMP_WORDS[COMP_CWORD]}
  local -a answer before=("${COMP_WORDS[@]:0:COMP_CWORD}")
  before=("${before[@]//[\"\'\\]/}")
  if [[ -z $2 && $at == [=:]* ]]; then before+=("$at"); fi
  mapfile -t answer < <("$program" completion words bash -- "${before[@]}" "$2" 2>/dev/null)
  says=" ${answer[0]-} "
  COMPREPLY=("${answer[@]:1}")
  if [[ $says == *' go-on '* ]]; then compopt -o nospace 2>/dev/null; fi
  if [[ $says == *' files '* ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$2")
  elif [[ $says == *' folders '* ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$2")
  fi
}
complete -F _npusim npusim
)";

const char* const kZsh = R"(#compdef npusim
# zsh completion for npusim; printed by: npusim completion zsh
_npusim() {
  local -a answer
  local says program=${(Q)words[1]}
  program=${program/#\~/$HOME}
  answer=("${(@f)$("$program" completion words zsh -- "${(@Q)words[1,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
  says=" $answer[1] "
  shift answer
  answer=("${(@)answer:#}")
  local -a how
  [[ $says == *' go-on '* ]] && how=(-S '')
  (( $#answer )) && compadd "${(@)how}" -- "${(@)answer}"
  if [[ $says == *' files '* || $says == *' folders '* ]]; then
    compset -P '*='
    [[ $says == *' files '* ]] && _files || _files -/
  fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _npusim "$@"
else
  compdef _npusim npusim
fi
)";

// bash takes what stands behind the last '=' or ':' for the word.
Outcome print_words(const std::vector<std::string>& arguments, bool bash) {
  const Candidates found = complete(bash ? joined(arguments) : arguments);
  std::string text;
  if (found.files) text += " files";
  if (found.folders) text += " folders";
  if (found.go_on) text += " go-on";
  text += "\n";
  const auto words = bash ? joined(arguments) : arguments;
  const std::size_t kept = bash && !words.empty() ? words.back().find_last_of("=:") + 1 : 0;
  for (const auto& word : found.words) text += word.substr(std::min(kept, word.size())) + "\n";
  return print(text);
}

}  // namespace

Outcome completion_command(const Options& options) {
  const auto& words = options.arguments;
  if (words.size() >= 2 && words[0] == "words" && (words[1] == "bash" || words[1] == "zsh")) {
    return print_words({words.begin() + 2, words.end()}, words[1] == "bash");
  }
  if (words.empty()) return bad_input("completion: give a shell: bash, zsh");
  if (words[0] != "bash" && words[0] != "zsh") {
    return bad_input("completion: no script for '" + shortened(words[0]) +
                     "'; there are bash, zsh");
  }
  if (auto ok = expect_at_most(1, "completion", words); !ok) return ok;
  return print(words[0] == "bash" ? kBash : kZsh);
}

}  // namespace npu::cli

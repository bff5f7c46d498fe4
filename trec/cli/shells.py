"""What each shell is told so that it asks trec for completions."""

from __future__ import annotations

ASKED = "TREC_COMPLETE"
"""Environment variable that hands over the words typed so far, one a line."""

SHELLS = {
    "bash": """\
_trec() {
    local IFS=$'\\n'
    COMPREPLY=($(TREC_COMPLETE="${COMP_WORDS[*]:1:COMP_CWORD}" trec completion words 2>/dev/null | cut -f1))
}
complete -o default -F _trec trec
""",
    "zsh": """\
#compdef trec
_trec() {
    local -a found
    found=("${(@f)$(TREC_COMPLETE="${(pj:\\n:)words[2,CURRENT]}" trec completion words 2>/dev/null)}")
    if [[ -n $found[1] ]]; then
        found=("${(@)found//$'\\t'/:}")
        _describe trec found
    else
        _files
    fi
}
compdef _trec trec
""",
    "fish": """\
function __trec_words
    set -lx TREC_COMPLETE (string join \\n -- (commandline -opc)[2..] (commandline -ct) | string collect)
    trec completion words 2>/dev/null
end
complete -c trec -a '(__trec_words)'
""",
}
"""For each shell, the lines that it reads."""

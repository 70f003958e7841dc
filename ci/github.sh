#!/usr/bin/env bash
# The steps of the Action (action.yml): gets perfpipe; or ingests the logs of a load test, gates them by rules against a
# baseline, and comments on the pull request. Needs bash, curl, jq and, to gate, perfpipe.
#
# Usage: ci/github.sh install|gate
#
# All inputs are environment variables, and none of them is taken for code. Those of lists have an item on each line.
#
#   GATE_RELEASE, GATE_SHA256   the address of the program (https:// or file://) and its checksum; without them, perfpipe is
#                               the one on the PATH, or built from this source
#   GATE_FILES                  logs, each of which is a run, or folders of runs
#   GATE_FRAMEWORK, GATE_TEST   what the runs are stored as
#   GATE_RULES, GATE_RULES_FILE rules of `perfpipe check`, and a file of them
#   GATE_BASELINE               what rules compare with, as `perfpipe check --baseline` takes it
#   GATE_BASELINE_FILES         logs of the baseline, in the place of GATE_BASELINE
#   GATE_NO_BASELINE            pass, or fail: what becomes of a first run
#   GATE_UNKNOWN                pass, or fail: what becomes of rules that the data can't decide
#   GATE_STORE                  the folder of the store
#   GATE_NAME                   what distinguishes the comment from those of other gates
#   GATE_COMMENT, GATE_REPORT   true, or false
#   GATE_AUTHOR                 the login of the token's user, whose comments are replaced
#   GITHUB_TOKEN                is never printed
#
# The exit code of `gate` is that of perfpipe, whether the comment can be written or not.
set -euo pipefail

work=$(mktemp -d "${RUNNER_TEMP:-/tmp}/perfpipe.XXXXXX")

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# Warns on the page of the job, on one line.
warn() {
    local text=${*//'%'/%25}
    text=${text//$'\r'/%0D}
    printf '::warning::%s\n' "${text//$'\n'/%0A}"
}

# Appends the lines of a text that are not blank to an array, without blanks around them.
append_lines() {
    local -n array=$1
    local line
    while IFS= read -r line; do
        line=${line#"${line%%[![:space:]]*}"}
        line=${line%"${line##*[![:space:]]}"}
        if [ -n "$line" ]; then array+=("$line"); fi
    done <<<"$2"
}

install() {
    local folder=$work/bin
    mkdir -p "$folder"
    if [ -n "${GATE_RELEASE:-}" ]; then
        [ -n "${GATE_SHA256:-}" ] || fail "a release is named, but not its checksum: give sha256, as SHA256SUMS of the release has it"
        [[ $GATE_SHA256 =~ ^[0-9a-f]{64}$ ]] || fail "sha256 is not 64 digits and letters a to f"
        curl --disable --fail --silent --show-error --location --proto '=https,file' --proto-redir '=https' --retry 3 \
            --output "$folder/perfpipe" --url "$GATE_RELEASE" || fail "the release can't be downloaded: look at its address"
        if ! printf '%s  %s\n' "$GATE_SHA256" "$folder/perfpipe" | sha256sum --check --status -; then
            rm "$folder/perfpipe"
            fail "the release has another checksum than sha256: look at both, and trust neither until they agree"
        fi
        chmod 755 "$folder/perfpipe"
    elif command -v perfpipe >/dev/null; then
        return
    else
        command -v cargo >/dev/null || fail "there is no perfpipe, and no cargo to build it: name a release and its sha256"
        cargo install --locked --path "$(dirname "$0")/../crates/cli" --root "$work"
    fi
    printf '%s\n' "$folder" >>"$GITHUB_PATH"
}

# Stores runs: ingest STORE FILES… with the flags in `flags`. The gate needs no samples, and so a cache of the store is small.
ingest() {
    local store=$1 file
    shift
    for file in "$@"; do
        perfpipe ingest --store "$store" --framework "$framework" --test "$test" --append-repeat --no-samples \
            "${flags[@]}" -- "$file" || return
    done
}

# Stores the runs and checks them. The comment goes to a file, if there is anything to say.
gate() {
    local files=() baseline_files=() rules=() flags=() baseline=() arguments branch build
    append_lines files "${GATE_FILES:-}"
    append_lines baseline_files "${GATE_BASELINE_FILES:-}"
    append_lines rules "${GATE_RULES:-}"
    [ ${#files[@]} -gt 0 ] || { printf 'error: no files are given\n' >&2; return 2; }
    # A branch of a fork may have any name, also that of the baseline's.
    branch=${number:+pull/$number}
    build=${GITHUB_RUN_ID:-0}.${GITHUB_RUN_ATTEMPT:-1}
    flags=(--tag "branch=${branch:-${GITHUB_REF_NAME:-none}}" --tag "commit=${GITHUB_SHA:-none}" --tag "build=$build")
    ingest "$store" "${files[@]}" || return
    arguments=(check --store "$store" --framework "$framework" --test "$test" --tag "build=$build")
    arguments+=(--format pr --output "$comment" --github)
    if [ -n "${GATE_RULES_FILE:-}" ]; then arguments+=(--rules "$GATE_RULES_FILE"); fi
    if [ -n "${GATE_UNKNOWN:-}" ]; then arguments+=(--unknown "$GATE_UNKNOWN"); fi
    if [ ${#baseline_files[@]} -gt 0 ]; then
        flags=()
        ingest "$work/baseline" "${baseline_files[@]}" || return
        baseline=(--baseline "${framework}_$test" --baseline-store "$work/baseline")
    elif [ -n "${GATE_BASELINE:-}" ]; then
        baseline=(--baseline "$GATE_BASELINE")
    elif mentions_baseline "${rules[@]}"; then
        baseline=(--baseline "last 5 of tag:branch=$main_branch")
    fi
    if [ ${#baseline[@]} -gt 0 ] && [ -n "${GATE_NO_BASELINE:-}" ]; then baseline+=(--no-baseline "$GATE_NO_BASELINE"); fi
    # The summary gets what the comment says, below.
    GITHUB_STEP_SUMMARY='' perfpipe "${arguments[@]}" "${baseline[@]}" -- "${rules[@]}"
}

# True if a rule compares with a baseline.
mentions_baseline() {
    [[ "$*" == *baseline* ]] || { [ -n "${GATE_RULES_FILE:-}" ] && grep -q baseline -- "$GATE_RULES_FILE"; }
}

# Draws the page of the runs.
draw_report() {
    perfpipe report --store "$store" --framework "$framework" --test "$test" \
        --tag "build=${GITHUB_RUN_ID:-0}.${GITHUB_RUN_ATTEMPT:-1}" --format html --output "$work/report.html" --quiet
}

# Writes the text of the comment: what perfpipe says, the page of the job, and the marker by which it is found again.
write_body() {
    if [ -s "$comment" ]; then
        sed '$d' "$comment"
    else
        printf '**Not checked**: perfpipe ended with exit code %s. The log of the job says why.\n\n' "$1"
    fi
    if [[ "${GITHUB_SERVER_URL:-}${GITHUB_RUN_ID:-}" =~ ^https://[A-Za-z0-9.:-]+[0-9]$ ]]; then
        printf '[Log and report](%s/%s/actions/runs/%s)\n\n' "$GITHUB_SERVER_URL" "$GITHUB_REPOSITORY" "$GITHUB_RUN_ID"
    fi
    printf '%s\n' "$marker"
}

# Sends a request: METHOD URL [BODY]. Sets `status`, 000 if there is no answer; the body of the answer is a file.
request() {
    local arguments=(--disable --silent --show-error --globoff --max-time 30 --request "$1")
    arguments+=(--output "$work/answer.json" --write-out '%{http_code}' --header "Accept: application/vnd.github+json")
    if [ -n "${3:-}" ]; then arguments+=(--header "Content-Type: application/json" --data-binary "@$3"); fi
    # The token is no argument, since other processes see those.
    status=$(printf 'Authorization: Bearer %s\n' "$GITHUB_TOKEN" | curl "${arguments[@]}" --header @- --url "$2") || status=000
}

# Finds the earlier comment of this gate: by the marker at its end, and by its author, since anybody can write the marker.
find_comment() {
    local page length
    found=
    for ((page = 1; page <= 1000; page++)); do
        request GET "$api/issues/$number/comments?per_page=100&page=$page"
        [ "$status" = 200 ] || return 1
        found=$(jq -r --arg marker "$marker" --arg author "${GATE_AUTHOR:-github-actions[bot]}" '
            def is_own: .user.login == $author and (.body // "" | sub("\\s+$"; "") | endswith($marker));
            [.[] | select(is_own) | .id | numbers][0] // empty' "$work/answer.json") || return 1
        length=$(jq length "$work/answer.json") || return 1
        if [ -n "$found" ] || [ "$length" -lt 100 ]; then return 0; fi
    done
}

# Replaces the earlier comment, or writes a new one.
send_comment() {
    find_comment || return
    if [ -n "$found" ]; then
        request PATCH "$api/issues/comments/$found" "$work/body.json"
    else
        request POST "$api/issues/$number/comments" "$work/body.json"
    fi
    [[ $status == 20[01] ]]
}

# Comments on the pull request. A request without an answer may have been served, so that the comment is looked for again.
comment_on_pull_request() {
    local attempt
    [ -n "${GITHUB_TOKEN:-}" ] || { warn "there is no token to comment with: the verdict is in the summary of the job"; return; }
    [[ $GITHUB_REPOSITORY =~ ^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$ ]] || { warn "GITHUB_REPOSITORY is not as OWNER/NAME"; return; }
    api=$GITHUB_API_URL/repos/$GITHUB_REPOSITORY
    jq -Rs '{body: .}' "$work/body.md" >"$work/body.json"
    for attempt in 1 2 3 4; do
        if send_comment; then return; fi
        case $status in
            000 | 429 | 5??) if [ "$attempt" -lt 4 ]; then sleep "$((attempt * ${GATE_RETRY_SECONDS:-3}))"; fi ;;
            *) break ;;
        esac
    done
    case $status in
        401 | 403 | 404) warn "the token may not comment (HTTP $status), as in a fork: the verdict is in the summary of the job" ;;
        *) warn "the comment can't be written (HTTP $status): the verdict is in the summary of the job" ;;
    esac
}

run_gate() {
    framework=${GATE_FRAMEWORK:-app}
    test=${GATE_TEST:-load}
    store=${GATE_STORE:-perfpipe-data}
    comment=$work/comment.md
    number= main_branch=main
    if [ -s "${GITHUB_EVENT_PATH:-}" ]; then
        number=$(jq -r '(.pull_request.number // .issue.number) | numbers' "$GITHUB_EVENT_PATH")
        [[ $number =~ ^[0-9]+$ ]] || number=
        main_branch=$(jq -r '.repository.default_branch // "main"' "$GITHUB_EVENT_PATH")
    fi
    local name=${GATE_NAME:-${GITHUB_WORKFLOW:-perfpipe}/${GITHUB_JOB:-gate}} code=0 report=
    marker="<!-- perfpipe:$(jq -rn --arg name "$name" '$name | @uri') -->"

    gate || code=$?
    if [ "${GATE_REPORT:-true}" = true ]; then
        if draw_report; then report=$work/report.html; else warn "the report could not be drawn"; fi
    fi
    write_body "$code" >"$work/body.md"
    if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat "$work/body.md" >>"$GITHUB_STEP_SUMMARY"; fi
    if [ -n "${GITHUB_OUTPUT:-}" ]; then
        printf '%s\n' "exit-code=$code" "comment=$work/body.md" "report=$report" >>"$GITHUB_OUTPUT"
    fi
    if [ "${GATE_COMMENT:-true}" = true ] && [ -n "$number" ]; then comment_on_pull_request; fi
    exit "$code"
}

case ${1:-} in
    install) install ;;
    gate) run_gate ;;
    *) fail "Usage: ci/github.sh install|gate" ;;
esac

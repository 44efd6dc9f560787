/** Why a scenario of the conformance suite, or a check of one, does not apply to a server that offers tools only. */
const NO_PROMPTS = 'Hawser offers no prompts.'
const NO_RESOURCES = 'Hawser offers no resources: images are items of results.'
const NO_QUESTIONS = 'Hawser asks the host nothing during a call, neither its user nor its model.'
const NO_LOGGING = 'Hawser sends no log messages: they are deprecated, and its log is a file.'
const NO_COMPLETION = 'Hawser offers no completion of arguments.'
const NO_TASKS =
  'Hawser does not offer the extension for tasks: messages are durable and have cursors.'
const NO_HEADERS = 'No tool asks for its arguments as headers.'

/** By the start of the name of a scenario; the first that fits counts. */
export const EXCEPTED_SCENARIOS: readonly (readonly [string, string])[] = [
  ['prompts-', NO_PROMPTS],
  ['resources-', NO_RESOURCES],
  ['completion-complete', NO_COMPLETION],
  ['logging-set-level', NO_LOGGING],
  ['tools-call-with-logging', NO_LOGGING],
  ['tools-call-sampling', NO_QUESTIONS],
  ['tools-call-elicitation', NO_QUESTIONS],
  ['elicitation-', NO_QUESTIONS],
  ['input-required-result-', NO_QUESTIONS],
  ['tasks-', NO_TASKS],
  ['http-custom-header-server-validation', NO_HEADERS],
]

/** Checks of scenarios whose other checks must pass. */
export const EXCEPTED_CHECKS: Readonly<Record<string, string>> = {
  'sep-2575-server-rejects-undeclared-capability': NO_QUESTIONS,
  'sep-2575-missing-capability-http-400': NO_QUESTIONS,
  'sep-2575-http-server-no-independent-requests-on-stream': NO_QUESTIONS,
  'sep-2575-server-no-log-without-loglevel': NO_LOGGING,
  'sep-2549-prompts-list-caching-hints': NO_PROMPTS,
  'sep-2549-resources-list-caching-hints': NO_RESOURCES,
  'sep-2549-resources-templates-list-caching-hints': NO_RESOURCES,
}

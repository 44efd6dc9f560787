export type NamedKind = 'type' | 'function' | 'constant' | 'field'

/** Participles that are the usual term for what they name, each with the place where a reader knows it from. */
export const ESTABLISHED_TERMS: Readonly<Record<string, string>> = {
  Failed: 'the failure of a Result (src/model/errors.ts)',
  failed: 'makes one, and counts them in reports of tests and tools',
  aborted: 'AbortSignal.aborted',
  closed: 'the state and the promise of streams and sockets, as in the DOM and in Node',
  done: 'the end of an iterator, and of a promise for a Turn',
  ended: 'the state of a stream in Node (writableEnded), and of a Turn',
  expected: 'the other half of `actual`',
  redirected: 'Response.redirected, which every response of fetch has',
  truncated: 'the field of Events and results whose text was cut',
}

/**
 * Bare participles that name something in the source, each with the number of its declarations. A new one is not added: it gets
 * another name. Functions and constants are words for models: their names are part of the hash that a Log records
 * (`WORDS_SHA256`), and their facts are fields of Events. All other fields are named as in JSON that Hawser stores, accepts or
 * prints.
 */
export const KNOWN_PARTICIPLES: Readonly<Record<NamedKind, string>> = {
  type: '',
  function: 'elided embedded fenced lost pinned piped reduced rejected unpinned',
  constant: 'DESCRIBED REJECTED WRITTEN',
  field: `
    accepted answered carried changed*2 compacted continued*3 decoded deleted*2 denied
    given*6 interrupted kept*2 lost made malformed moved pinned piped*2 recomposed*2 recorded*3
    refused*2 repeated*2 required shadowed*2 shown unbegun uncovered*2 undone unsaved untrusted*2
    used withheld
  `,
}

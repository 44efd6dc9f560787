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
 * Bare participles that name something in the source since before the check, each with the number of its declarations. A new one
 * is not added: it gets another name. One that is renamed is removed here. Those of JSON and of the words for models stay.
 */
export const KNOWN_PARTICIPLES: Readonly<Record<NamedKind, string>> = {
  type: '',
  function: `
    aligned attached authorized broken changed checked*2 completed counted covered created decided
    decoded defended described elided embedded entered escaped fenced filled*2 followed found
    grouped indented*2 judged listed*8 located*2 logged lost named*3 overlaid padded paged
    painted parsed pinned piped placed quoted*4 redacted*2 reduced refused*2 registered rejected
    repeated*2 replaced requested resumed rounded sent settled shortened*3 shown*7 stacked staged
    stored talked trusted undecided unescaped unexpected unpinned unquoted*2 untrusted verified
  `,
  constant: 'DESCRIBED REJECTED WRITTEN',
  field: `
    accepted*2 added admitted*4 adopted allowed*3 answered*8 appeared*2 asked*4 attached*9
    begun*5 bound broken*2 called cancelled*3 carried*2 changed*16 checked*3 chosen*3 claimed
    commanded compacted compared composed confined*7 continued*6 counted*2 created*2 damaged decided
    declared*2 decoded deleted*2 denied*2 described disabled disconnected drawn dropped*2 elided
    emitted enclosed estimated*2 examined*2 exceeded exited*3 expired explained finished fixed*4
    flushed*2 folded*2 found*10 gated given*11 gone*6 granted grown handed held*12 hidden identified
    ignored*2 interrupted*4 kept*4 keyed known*13 learned left*9 linked listed locked logged*2
    lost*9 made*5 malformed mapped marked matched mentioned met mounted moved*2 named*4 narrowed*2
    numbered opened*9 overflowed overspent paged parsed*3 paused*3 pinned*2 piped*5 planted
    prepared priced probed progressed projected*3 published ranked reached*2 recomposed*2 recorded*6
    recovered redacted*2 reduced*4 refused*15 registered*2 rejected released removed*2 renewed*2
    repaired*2 repeated*3 reported*5 required reserved*7 resized resolved restored resumed retired
    reworded saved*2 scanned searched seen sent*5 served*3 settled*7 shadowed*2 shared*2 shown*14
    skipped*2 sourced spaced*2 spent*4 staged started*4 stopped*10 stored*3 streamed swept
    switched synced taken*4 told*2 translated trusted*3 typed*3 unanswered unbegun uncached
    unconfined*3 uncovered*3 undecided undone*3 unended*4 unfinished*2 unified unmarked*2
    unprotected unrecorded unsaved*2 unsealed unseen unshown*2 untold*2 untrusted*2 unused*2
    unwritten used*3 valued viewed vouched wanted*2 watched withheld*3 worked*2 written*6
  `,
}

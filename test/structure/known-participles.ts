export type NamedKind = 'type' | 'function' | 'constant' | 'field'

/**
 * Bare participles that name something in the source since before the check, each with the number of its declarations. A new one
 * is not added: it gets another name. One that is renamed is removed here. Those of JSON and of the words for models stay.
 */
export const KNOWN_PARTICIPLES: Readonly<Record<NamedKind, string>> = {
  type: 'Failed',
  function: `
    aborted*3 aligned applied attached authorized bounded broken changed*3 checked*2 clamped
    closed*2 compiled completed counted covered created*2 decided decoded*2 defended delegated
    described*2 digested done elided embedded emptied ended entered escaped*3 examined failed
    fenced filled*3 folded followed found given grouped halved handled indented*2 joined*2
    judged*2 listed*8 located*2 logged lost*2 marked matched measured moved*2 named*7 nested
    numbered opened overlaid oversized padded paged painted parsed*3 permitted pinned piped
    placed quoted*5 redacted*3 reduced refreshed refused*3 registered*2 rejected remembered
    renamed repeated*3 replaced requested resolved resumed rounded scaled sealed searched sent
    settled*2 shared shortened*3 shown*7 stacked staged stored summarised talked trusted undecided
    unescaped*2 unexpected unexplained unfinished unpinned unquoted*4 untrusted*2 verified viewed
    written*4
  `,
  constant: 'DESCRIBED REJECTED WRITTEN',
  field: `
    accepted*2 added admitted*4 adopted allowed*3 answered*8 appeared*2 armed asked*4 attached*11
    begun*6 bound broken*2 called cancelled*3 carried*2 changed*16 checked*3 chosen*3 claimed
    closed*12 commanded compacted compared composed confined*7 continued*8 counted*2 created*2
    damaged decided declared*2 decoded deleted*2 denied*2 described disabled disconnected done*5
    drawn dropped*2 elided emitted enclosed ended*24 estimated*2 examined*2 exceeded exited*3
    expected*3 expired explained failed*3 finished fixed*4 flushed*2 folded*2 found*10 gated
    given*11 gone*6 granted grown handed held*12 hidden identified ignored*2 interrupted*4 kept*4
    keyed known*13 learned left*9 linked listed locked logged*2 lost*9 made*5 malformed mapped
    marked matched mentioned*2 met*2 mounted moved*2 named*4 narrowed*2 numbered opened*12
    overflowed overspent paged parsed*3 pasted paused*3 pinned*2 piped*6 planted prepared priced
    probed progressed projected*3 published ranked reached*2 recomposed*2 recorded*6 recovered
    redacted*2 reduced*4 refused*15 registered*2 rejected released removed*2 renewed*2 repaired*2
    repeated*3 reported*5 required reserved*8 resized resolved*2 restored resumed retired reworded
    saved*2 scanned searched seen sent*5 served*3 settled*7 shadowed*2 shared*2 shown*14 skipped*2
    sourced spaced*2 spent*4 staged started*4 steered stopped*10 stored*3 streamed swept switched
    synced taken*4 told*2 translated truncated*10 trusted*3 typed*3 unanswered unbegun uncached
    unconfined*3 uncovered*3 undecided undone*3 unended*4 unfinished*2 unified unmarked*2
    unprotected unrecorded unsaved*2 unsealed unseen unshown*2 untold*2 untrusted*2 unused*2
    unwritten used*3 valued viewed vouched wanted*2 watched withheld*3 worked*2 written*6
  `,
}

import type { WholeEvent } from '../../../src/model/events/event.ts'
import type { Frame } from '../../../src/model/tether/frame.ts'
import type { ShownMessage } from '../../support/telegram/double-chat.ts'

/** One chat after the last kill. */
export interface ChatEvidence {
  readonly chat: number
  /** What a person sent, in order: a word that the answer repeats, and the name of the message for the Instance. */
  readonly sent: readonly { readonly word: string; readonly key: string }[]
  /** What the bot shows there. */
  readonly shown: readonly Pick<ShownMessage, 'text' | 'era'>[]
}

export interface GatewayEvidence {
  readonly chats: readonly ChatEvidence[]
  /** The frame log, in its order. */
  readonly stored: readonly Frame[]
  /** Of the Logs of all Sessions. */
  readonly events: readonly WholeEvent[]
}

export interface GatewayVerdict {
  readonly offences: readonly string[]
  /** Messages that a chat shows twice because a kill came before the first was recorded. */
  readonly doubled: number
  /** Messages that a crash ended, whose answers say so. */
  readonly interrupted: number
}

/** Whether every message ran once, was answered once and in order, and doubles appear only where a kill explains them. */
export function gatewayVerdict({ chats, stored, events }: GatewayEvidence): GatewayVerdict {
  const offences: string[] = []
  let doubled = 0
  let interrupted = 0
  for (const { chat, sent, shown } of chats) {
    const own = stored.filter(({ session }) => session.id === String(chat))
    const names = sent.map(({ key }) => key)
    const accepted = own.flatMap((one) => (one.type === 'user.message' ? [one.msg_id] : []))
    const ends = own.filter(({ type }) => type === 'assistant.done' || type === 'error')
    const turns = events.flatMap((one) => {
      const key = one.type === 'turn_started' ? one.data.source.message_key : undefined
      return key !== undefined && names.includes(key) ? [key] : []
    })
    const say = (what: string) => offences.push(`chat ${chat}: ${what}`)
    if (accepted.join() !== names.join()) say(`sent ${names.join()}, stored ${accepted.join()}`)
    if (turns.join() !== names.join()) say(`sent ${names.join()}, ran ${turns.join()}`)
    const ended = ends.map(({ in_reply_to }) => in_reply_to)
    if (ended.join() !== names.join()) say(`sent ${names.join()}, ended ${ended.join()}`)
    const words = sent.map(({ word }) => word)
    const answers = runsOf(ends.map((end) => ({ label: labelOf(textOf(end), words), era: 0 })))
    const seen = runsOf(shown.map(({ text, era = 0 }) => ({ label: labelOf(text, words), era })))
    if (answers.map(({ label }) => label).join() !== seen.map(({ label }) => label).join())
      say(`answered ${described(answers)}, shown ${described(seen)}`)
    for (const [at, { label, eras }] of seen.entries()) {
      const more = eras.length - (answers[at]?.eras.length ?? eras.length)
      const kills = eras.filter((era, place) => place > 0 && era > (eras[place - 1] ?? era)).length
      if (more < 0) say(`${label} is not shown as often as it was answered`)
      if (more > kills) say(`${label} is doubled without a kill in between`)
      doubled += Math.max(0, more)
    }
    interrupted += ends.filter((end) => isCut(textOf(end))).length
  }
  return { offences, doubled, interrupted }
}

interface Run {
  readonly label: string
  readonly eras: readonly number[]
}

/** Neighbours with the same label as one. */
function runsOf(labels: readonly { readonly label: string; readonly era: number }[]): Run[] {
  const runs: Run[] = []
  for (const { label, era } of labels) {
    const last = runs.at(-1)
    if (last?.label === label) runs.splice(-1, 1, { label, eras: [...last.eras, era] })
    else runs.push({ label, eras: [era] })
  }
  return runs
}

function described(runs: readonly Run[]): string {
  return runs.map(({ label, eras }) => `${label} ${eras.length}`).join(', ')
}

/** Answers without a word of their own, such as those of a crash, are alike. */
function labelOf(text: string, words: readonly string[]): string {
  return words.find((word) => text.includes(word)) ?? (isCut(text) ? 'a crash' : 'another text')
}

function isCut(text: string): boolean {
  return text.includes('cut off by a crash')
}

function textOf(end: Frame): string {
  if (end.type === 'assistant.done') return end.payload.text
  return end.type === 'error' ? end.payload.message : ''
}

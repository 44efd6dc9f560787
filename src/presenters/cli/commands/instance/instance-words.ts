import * as z from 'zod'
import { InstanceInfoShape } from '../../../../tether/tether-shapes.ts'
import type { InstanceInfo } from '../../../../tether/tether.ts'
import { visibleLine } from '../../text/visible-text.ts'

/** An Instance in the JSON of a command. */
export const InstanceOutput = z.object({ ok: z.literal(true), instance: InstanceInfoShape })

/** Everything about an Instance, one fact a line; with where its records are, if given. */
export function infoWords(info: InstanceInfo, records?: string): string {
  const { id, handle, state, enabled, workspace, provider, model, isolation, idle } = info
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['id', id],
    ['state', enabled ? state : `${state}, disabled`],
    ['reason', info.reason?.message],
    ['waiting', info.waiting === 0 ? undefined : messages(info.waiting)],
    ['workspace', workspace ?? 'none; it exchanges no images'],
    ['records', records],
    ['provider', provider],
    ['model', model],
    ['isolation', isolation],
    ['idle', `paused after ${idle.pause_seconds} s, stopped ${idle.stop_seconds} s later`],
    ['spent', spentWords(info)],
    ['created', info.created],
  ]
  const lines = facts.flatMap(([name, value]) =>
    value === undefined ? [] : [`  ${name.padEnd(WIDTH)}${visibleLine(value)}\n`],
  )
  return `${handle}\n${lines.join('')}`
}

const WIDTH = 11

/** What a person permits by mapping a folder of theirs; empty if the Instance has none. */
export function writesWords({ workspace }: InstanceInfo): string {
  if (workspace === undefined) return ''
  return `Its agent writes and runs commands in ${visibleLine(workspace)} without asking.\n`
}

/** One line after something was done to an Instance. */
export function stateWords({ handle, state, enabled, waiting, reason }: InstanceInfo): string {
  const off = enabled ? '' : ', and disabled'
  const why = reason === undefined ? '' : ` ${visibleLine(reason.message)}`
  const left = waiting === 0 ? '' : ` ${messages(waiting)} not answered yet.`
  return `The Instance ${handle} is ${state}${off}.${why}${left}\n`
}

export function spentWords({ spend, ceiling_usd }: InstanceInfo): string {
  const most = ceiling_usd === undefined ? '' : ` of $${ceiling_usd}`
  return `$${spend.usd.toFixed(4)}${most}`
}

function messages(count: number): string {
  return count === 1 ? '1 message' : `${count} messages`
}

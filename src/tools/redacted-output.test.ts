import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CANARY_KEY, CANARY_PARTS } from '../../test/support/host/canary.ts'
import { value } from '../../test/support/log/story.ts'
import { toolWorld, type WorldOptions } from '../../test/support/skills/tool-world.ts'
import { KEY_PLACEHOLDER, Redactor } from '../encoding/redaction.ts'
import type { ConfinedRun } from '../host/sandbox/sandbox.ts'
import { ok } from '../model/errors.ts'
import { bash, NOTES_BYTES } from './bash.ts'
import { edit } from './edit.ts'
import { grep } from './grep.ts'
import { read } from './read.ts'
import type { Tool } from './tool.ts'

const KEYED = { secrets: [CANARY_KEY] }

/** The text that a tool stored, returned and reported as progress. */
async function ran(tool: Tool, args: object, options: WorldOptions) {
  const progress: string[] = []
  const world = await toolWorld({ ...options, progress: (text) => void progress.push(text) })
  try {
    const outcome = await value(tool.parse(JSON.stringify(args))).run(world.context)
    const blobs = [...world.blobs.values()].map((blob) => blob.toString('latin1'))
    return { outcome, blobs, progress, all: [JSON.stringify(outcome), ...blobs, progress.join('')] }
  } finally {
    await world.close()
    await rm(world.workspace, { recursive: true })
  }
}

function printing(...chunks: readonly string[]): ConfinedRun {
  return ending(false, ...chunks)
}

function ending(timedOut: boolean, ...chunks: readonly string[]): ConfinedRun {
  return async (command) => {
    for (const chunk of chunks) await command.onOutput?.(Buffer.from(chunk))
    return ok({
      code: 0,
      signal: null,
      timedOut,
      wasInterrupted: false,
      durationMs: 1,
      appearedPaths: [],
      runsLater: [],
    })
  }
}

function revealsKey(text: string): boolean {
  return CANARY_PARTS.some((part) => text.includes(part))
}

describe('bash', () => {
  const text = `before ${CANARY_KEY} after\n`

  test('a key that is split between two chunks is redacted in result and progress, wherever it is split', async () => {
    for (let at = 0; at <= text.length; at += 1) {
      const run = printing(text.slice(0, at), text.slice(at))
      const { outcome, progress } = await ran(bash, { command: 'x' }, { ...KEYED, run })
      const clean = `before ${KEY_PLACEHOLDER} after\n`
      expect(outcome.output).toBe(`${clean}[exit code 0]\n`)
      expect(progress.join('')).toBe(clean)
    }
  })

  test('an excerpt that is cut anywhere in a key contains no part of it, nor does the stored output', async () => {
    const limit = 200
    for (let shift = 0; shift < CANARY_KEY.length + 20; shift += 1) {
      const head = 'h'.repeat(limit / 2 - shift)
      const tail = 't'.repeat(limit / 2 - shift)
      const chunks = [head, CANARY_KEY, 'm'.repeat(4 * limit), CANARY_KEY, tail]
      const options = { ...KEYED, run: printing(...chunks), outputBytes: limit + NOTES_BYTES }
      const { outcome, blobs, all } = await ran(bash, { command: 'x' }, options)
      expect(outcome.truncated).toBe(true)
      expect(blobs).toEqual([new Redactor([CANARY_KEY]).text(chunks.join(''))])
      expect(all.map(revealsKey), `shift ${shift}`).not.toContain(true)
    }
  })

  test('without redaction both contain it, so these tests can fail', async () => {
    const { all } = await ran(bash, { command: 'x' }, { run: printing(text) })
    expect(all.map(revealsKey)).toContain(true)
  })

  test('a command that is killed while it prints a key leaves no part that reveals it', async () => {
    for (let length = 0; length <= CANARY_KEY.length; length += 1) {
      const part = CANARY_KEY.slice(0, length)
      const run = ending(true, `a ${part}`)
      const { outcome } = await ran(bash, { command: 'x' }, { ...KEYED, run })
      const shown = length < 8 ? part : KEY_PLACEHOLDER
      expect(outcome.output.split('\n')[0]).toBe(`a ${shown}`)
    }
  })

  test('a partial match of a key is shown at the end', async () => {
    const run = printing(CANARY_KEY.slice(0, 8))
    const { outcome, progress } = await ran(bash, { command: 'x' }, { ...KEYED, run })
    expect(outcome.output).toBe('sk-canar\n[exit code 0]\n')
    expect(progress.join('')).toBe('sk-canar')
  })
})

test('a line that is shortened inside a key contains no part of the key', async () => {
  for (const before of [470, 480, 490, 499]) {
    const files = { 'a.txt': `${'x'.repeat(before)}${CANARY_KEY} found\n` }
    const { outcome, all } = await ran(grep, { pattern: 'found' }, { ...KEYED, files })
    expect(outcome.output).toContain('1 match in 1 file')
    expect(all.map(revealsKey)).toEqual([false, false])
    const one = { path: 'a.txt' }
    const cut = await ran(read, one, { ...KEYED, files, outputBytes: before + 420 })
    expect([cut.outcome.truncated, ...cut.all.map(revealsKey)]).toEqual([true, false, false])
  }
})

test('the nearest line that a failed edit names contains no part of a key', async () => {
  const numbers = Array.from({ length: 48 }, (_, at) => at + 100).join(' ')
  const files = { 'a.txt': `${numbers}${CANARY_KEY}\n` }
  const args = { path: 'a.txt', edits: [{ old_text: `${numbers} and more`, new_text: 'x' }] }
  const { outcome, all } = await ran(edit, args, { ...KEYED, files })
  expect(outcome.error?.message).toContain('nearest match is line 1')
  expect(all.map(revealsKey)).not.toContain(true)
})

test('an edit that only changes keys is made, and shows nothing more', async () => {
  const world = await toolWorld({ secrets: ['key-number-one', 'key-number-two'] })
  try {
    await writeFile(join(world.workspace, 'a.txt'), 'key-number-one\n')
    const args = { path: 'a.txt', edits: [{ old_text: 'number-one', new_text: 'number-two' }] }
    const outcome = await value(edit.parse(JSON.stringify(args))).run(world.context)
    expect(outcome.output).toBe('Edited a.txt: 1 replacement, only in keys, which are not shown.\n')
    expect(outcome.diff).toBeUndefined()
    expect(outcome.before_blob).toBe(outcome.after_blob)
    expect(outcome.redacted_of?.before).not.toBe(outcome.redacted_of?.after)
  } finally {
    await world.close()
  }
})

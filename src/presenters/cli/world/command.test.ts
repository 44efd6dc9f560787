import { expect, expectTypeOf, test } from 'vitest'
import * as z from 'zod'
import type { PermissionMode, SessionMode } from '../../../model/modes.ts'
import { ok } from '../../../model/errors.ts'
import type { Factor } from '../../../session/probe/cache-comparison.ts'
import type { CACHE_PROBE } from '../definitions/cache.ts'
import type { PIN } from '../definitions/sessions.ts'
import type { RUN } from '../definitions/turns.ts'
import { command, lazy, type CommandInput, type ParsedInput } from './command.ts'
import type { CliWorld } from './world.ts'

const MOOR = command({
  name: 'moor',
  summary: 'moor a boat',
  args: [
    { name: '<boat>', help: 'its name' },
    { name: '[berth]', help: 'its place' },
    { name: '[lines...]', help: 'the lines' },
  ],
  options: [
    { flags: '-d, --dry-run', help: 'plan only' },
    { flags: '--side <side>', help: 'which side', choices: ['port', 'starboard'] },
    { flags: '--depth <metres>', help: 'the depth', default: '3' },
    { flags: '--fender <kind>', help: 'repeatable', repeatable: true },
    { flags: '--crew [name]', help: 'who helps' },
    { flags: '--engine', help: 'with it' },
    { flags: '--no-engine', help: 'without it' },
  ],
  examples: ['moor Anna'],
})

/** What the command receives for what the parser found. */
async function received(parsed: ParsedInput): Promise<CommandInput<typeof MOOR>> {
  const inputs: CommandInput<typeof MOOR>[] = []
  const moor = lazy(MOOR, async () => ({
    run: async (_, input) => {
      inputs.push(input)
      return ok(0)
    },
  }))
  await moor.run({} as Partial<CliWorld> as CliWorld, parsed)
  return inputs[0] ?? expect.unreachable()
}

test('an option that was not given has the value of its absence', async () => {
  expect(await received({ args: ['Anna', undefined, []], options: {} })).toEqual({
    args: ['Anna', undefined, []],
    options: {
      dryRun: false,
      side: undefined,
      depth: '3',
      fender: [],
      crew: undefined,
      engine: undefined,
    },
  })
})

test('an option that was given has its value', async () => {
  const options = { dryRun: true, depth: '5', fender: ['a', 'b'], crew: true, engine: false }
  expect((await received({ args: ['Anna', '1', ['bow']], options })).options).toEqual({
    ...options,
    side: undefined,
  })
})

// The compiler checks these.
test('the types of the input follow from the definition', () => {
  expectTypeOf<CommandInput<typeof MOOR>['args']>().toEqualTypeOf<
    readonly [string, string | undefined, readonly string[]]
  >()
  expectTypeOf<CommandInput<typeof MOOR>['options']>().toEqualTypeOf<{
    readonly dryRun: boolean
    readonly side: 'port' | 'starboard' | undefined
    readonly depth: string
    readonly fender: readonly string[]
    readonly crew: string | true | undefined
    readonly engine: boolean | undefined
  }>()
  expectTypeOf<CommandInput<typeof PIN>['args']>().toEqualTypeOf<
    readonly [string | undefined, readonly string[]]
  >()
})

test('the choices of an option are all values of the vocabulary', () => {
  type Run = CommandInput<typeof RUN>['options']
  expectTypeOf<NonNullable<Run['mode']>>().toEqualTypeOf<SessionMode>()
  expectTypeOf<NonNullable<Run['permission']>>().toEqualTypeOf<PermissionMode>()
  expectTypeOf<CommandInput<typeof CACHE_PROBE>['options']['vary']>().toEqualTypeOf<Factor>()
})

test('a command that answers in JSON has the shape of its output', () => {
  const definition = command({
    name: 'moor',
    summary: 'moor a boat',
    options: [{ flags: '--json', help: 'as JSON' }],
    examples: ['moor'],
  })
  const run = async () => ok(0)
  const Output = z.object({ ok: z.literal(true) })
  expect(lazy(definition, async () => ({ run, Output })).name).toBe('moor')
  // @ts-expect-error: the shape of its JSON is missing.
  expect(lazy(definition, async () => ({ run })).name).toBe('moor')
})

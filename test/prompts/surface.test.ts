import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LAYER_0 } from '../../src/prompt/words/layer0.ts'
import { freezeSurface } from '../../src/prompt/surface.ts'
import type { ToolSchema } from '../../src/model/surface.ts'
import { encode } from '../../src/providers/rehearsal/encode.ts'
import { SKILL_TOOLS, TOOLSET, toolSchemas } from '../../src/tools/toolset.ts'
import { DIALECT_NAMES, DIALECTS } from '../support/providers/dialects.ts'
import { harnessPlace } from '../support/session/harness-place.ts'
import { value } from '../support/log/story.ts'

const REHEARSAL = { provider: 'rehearsal', model: 'rehearsal' } as const

const params = {
  replay: 'attach-turn',
  late_role: 'developer',
  tool_choice: 'auto',
  limits: { provider_calls: 100 },
} as const

test('[PC-018] [PC-019] [PC-020] [PC-075] Layer 0 states who the agent is, where a project has its instructions and how to read a checkpoint', () => {
  for (const sentence of [
    'You are the agent of Hawser',
    'Never try to get around a refusal',
    'outcome: unknown] means that it is not known whether the call took effect',
    'files named AGENTS.md',
    'read those that the context names, together in one answer',
    'a folder new to you, look for one there',
    'the nearer one wins',
    'A checkpoint is a summary in place of earlier Events that are no longer shown. It is lossy.',
    'with what follows it, or with the current request, those win',
    'A description is not the content',
    'Hydrated context contains facts fetched for a Skill in one Turn',
  ]) {
    expect(LAYER_0).toContain(sentence)
  }
})

test('[PC-019] [PC-069] the content of AGENTS.md reaches a model only through a call that reads it', async () => {
  const place = await harnessPlace()
  await mkdir(join(place.workspace, 'sub'))
  for (const path of ['AGENTS.md', 'sub/AGENTS.md']) {
    await writeFile(join(place.workspace, path), 'Always say ahoy.\n')
  }
  const session = value(await place.harness.create(REHEARSAL))
  const before = value(await session.preview('What do you know?'))
  expect(before.body.toString('utf8')).not.toContain('ahoy')
  await value(await session.admit('Read AGENTS.md')).done
  const after = value(await session.preview('And now?'))
  const withText = after.segments.filter(({ bytes }) => bytes.includes('ahoy'))
  expect(withText.map(({ role }) => role)).toContain('tool_result')
  expect(withText.some(({ role }) => role === 'system' || role === 'developer')).toBe(false)
})

test('[PC-021] [SH-020] the stable prefix is parameters, tools by name, Layer 0 and the index of Skills, and nothing else', () => {
  const tools = toolSchemas(TOOLSET)
  const { surface } = freezeSurface({
    model: 'm',
    tools: tools.toReversed(),
    skillsIndex: 'Skills: none.',
    params,
  })
  const segments = encode([], surface)
  expect(segments.map(({ role }) => role)).toEqual([
    'params',
    ...tools.map(() => 'tool'),
    'system',
    'system',
  ])
  const parsed: unknown[] = segments.map(({ bytes }): unknown => JSON.parse(bytes.toString('utf8')))
  const names = tools.map(({ name }) => name).toSorted()
  expect(parsed.slice(1, 1 + tools.length)).toEqual(
    names.map((name): unknown => expect.objectContaining({ role: 'tool', name })),
  )
  expect(parsed.slice(1 + tools.length)).toEqual([
    { role: 'system', text: LAYER_0 },
    { role: 'system', text: 'Skills: none.' },
  ])
})

/** The cost of a cold request before the first message. */
const SURFACE_TOKENS = 2_850
/** With the tools of Skills; the index is not counted. */
const SURFACE_TOKENS_WITH_SKILLS = 3_200
const BYTES_A_TOKEN = 4

test.each(DIALECT_NAMES)('the surface is small in %s, with and without Skills', (dialect) => {
  const speaker = DIALECTS[dialect]
  const tokensOf = (tools: ToolSchema[]) => {
    const { surface } = freezeSurface({ model: 'm', tools, skillsIndex: '', params })
    const body = speaker.buildBody(speaker.encode([], surface), { cacheKey: '', marks: [] })
    return Math.ceil(body.length / BYTES_A_TOKEN)
  }
  const tokens = tokensOf(toolSchemas(TOOLSET))
  const withSkills = tokensOf(toolSchemas([...TOOLSET, ...SKILL_TOOLS]))
  console.log(`${dialect}: surface of ${tokens} tokens, ${withSkills} with the tools of Skills`)
  expect(tokens).toBeLessThanOrEqual(SURFACE_TOKENS)
  expect(withSkills).toBeLessThanOrEqual(SURFACE_TOKENS_WITH_SKILLS)
})

test('[PC-015] the role expresses authority, the position decides what is cached', async () => {
  const place = await harnessPlace()
  const session = value(await place.harness.create(REHEARSAL))
  await value(await session.admit('List all files')).done
  value(await session.change({ permission_mode: 'read-only' }))
  await value(await session.admit('List all files')).done
  const { segments } = value(await session.preview('And now?'))
  const roles = segments.map(({ role }) => role)
  // Developer facts are placed among and after a person's messages, never before them, and keep their role everywhere.
  const lastSystem = roles.lastIndexOf('system')
  expect(roles.slice(lastSystem + 1, lastSystem + 3)).toEqual(['user', 'developer'])
  expect(roles.filter((role) => role === 'developer').length).toBe(2)
  for (const { role, bytes } of segments) {
    expect(JSON.parse(bytes.toString('utf8'))).toMatchObject({ role })
  }
})

test('[PC-039] every call records its contract and its cache figures in the Log', async () => {
  const place = await harnessPlace()
  const session = value(await place.harness.create(REHEARSAL))
  await value(await session.admit('List all files')).done
  const requests = session.events.flatMap((e) => (e.type === 'provider_request' ? [e.data] : []))
  const usages = session.events.flatMap((e) => (e.type === 'provider_usage' ? [e.data] : []))
  expect(requests.map(({ contract_version }) => contract_version)).toEqual(['hw1', 'hw1'])
  expect(usages.map(({ call_index, usage }) => [call_index, usage.cached_read])).toEqual([
    [0, 0],
    [1, 0],
  ])
})

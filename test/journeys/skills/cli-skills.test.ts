import { execFileSync } from 'node:child_process'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { sha256 } from '../../../src/encoding/hash.ts'
import { Output as Checked } from '../../../src/presenters/cli/commands/skills/check.ts'
import { Output as Listed } from '../../../src/presenters/cli/commands/skills/skills.ts'
import { Output as Trusted } from '../../../src/presenters/cli/commands/skills/trust.ts'
import { Output as Untrusted } from '../../../src/presenters/cli/commands/skills/untrust.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { failureOf, UNSAFE_CHARACTER } from '../../support/cli/cli-answer.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { openPty } from '../../support/cli/pty.ts'
import { commandPlace } from '../../support/session/write-log.ts'

const EXAMPLES = fileURLToPath(new URL('../../../examples/skills/', import.meta.url))

const TEXT = `---
name: review
description: Reviews a change.
allowed-tools: read grep
context_sources:
  - id: changes
    command: [git, diff, "a b; rm -rf /"]
  - id: guide
    file: docs/guide.md
    auto: true
---
!\`touch ran\` \${HOME}
`

async function writeSkill(root: string, path: string, text = TEXT): Promise<string> {
  const folder = join(root, path)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'SKILL.md'), text)
  return join(folder, 'SKILL.md')
}

async function listed(root: string) {
  const { code, stdout } = await runCli({ root }, 'skills', '--json')
  expect(code).toBe(0)
  return Listed.parse(JSON.parse(stdout))
}

async function trustOf(root: string): Promise<string | undefined> {
  return (await listed(root)).skills.find(({ name }) => name === 'review')?.trust
}

test('without Skills the list says where to put one, and creates nothing in the workspace', async () => {
  const { root, workspace } = await commandPlace()
  const { code, stdout } = await runCli({ root }, 'skills')
  expect([code, stdout]).toEqual([0, expect.stringContaining('~/.agents/skills/NAME/SKILL.md')])
  await expect(stat(join(workspace, '.hawser'))).rejects.toThrow('ENOENT')
})

test('Skills are listed with their root and trust, then what is hidden or wrong', async () => {
  const { root } = await commandPlace()
  await writeSkill(
    root,
    'user/.agents/skills/own',
    '---\nname: own\ndescription: "A\\u001b[31m b"\n---\n',
  )
  await writeSkill(root, 'home/skills/broken', '---\nname: broken\n---\n')
  await writeSkill(root, 'workspace/.agents/skills/review')
  const hidden = await writeSkill(root, 'workspace/.claude/skills/own')
  const place = { root, env: { HOME: join(root, 'user') } }
  const { code, stdout, stderr } = await runCli(place, 'skills')
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).not.toMatch(UNSAFE_CHARACTER)
  expect(stdout).not.toContain('Reviews a change')
  expect(stdout.split('\n').map((line) => line.replaceAll(root, ''))).toEqual([
    'Name    Where                  Trust      Description',
    'own     ~/.agents/skills       user       A\\u{1b}[31m b',
    'review  <repo>/.agents/skills  untrusted  -',
    '',
    'The model sees only the names of 1 untrusted Skill. To see what one may do and trust it: hawser skills trust NAME',
    '',
    `Hidden: ${hidden.replace(root, '')} (/user/.agents/skills/own/SKILL.md is the Skill own; rename a folder to use both)`,
    '',
    'Warning: /home/skills/broken/SKILL.md:1: This Skill is not usable. "description" is missing.',
    '',
  ])
})

test('trusting shows everything that it allows, needs --yes without a terminal, and ends with an edit', async () => {
  const { root } = await commandPlace()
  const path = await writeSkill(root, 'workspace/.agents/skills/review')
  const asked = await runCli({ root }, 'skills', 'trust', 'review')
  expect(asked.code).toBe(2)
  for (const shown of [
    path,
    sha256(TEXT),
    'permits without asking: read, grep',
    'context source changes: runs "git" "diff" "a b; rm -rf /"',
    'context source guide: reads the file "docs/guide.md", with every activation',
    'Try: hawser skills trust review --yes',
  ]) {
    expect(asked.stderr).toContain(shown)
  }
  expect(await trustOf(root)).toBe('untrusted')

  const { stdout } = await runCli({ root }, 'skills', 'trust', 'review', '--yes', '--json')
  expect(Trusted.parse(JSON.parse(stdout))).toMatchObject({ changed: true, sha256: sha256(TEXT) })
  expect(await trustOf(root)).toBe('trusted')
  expect((await stat(join(root, 'home/trust.json'))).mode & 0o777).toBe(0o600)
  const again = await runCli({ root }, 'skills', 'trust', 'review')
  expect([again.code, again.stdout]).toEqual([0, 'review is already trusted.\n'])

  await writeFile(path, `${TEXT}More.\n`)
  expect(await trustOf(root)).toBe('untrusted')
  await writeFile(path, TEXT)
  const ended = await runCli({ root }, 'skills', 'untrust', 'review', '--json')
  expect(Untrusted.parse(JSON.parse(ended.stdout)).changed).toBe(true)
  expect(await trustOf(root)).toBe('untrusted')
  await expect(stat(join(root, 'workspace/ran'))).rejects.toThrow('ENOENT')
})

test('on a terminal only yes trusts a Skill', async () => {
  const { root } = await commandPlace()
  await writeSkill(root, 'workspace/.agents/skills/review')
  const program = await bundleScript(
    new URL('../../../bin/hawser.ts', import.meta.url),
    await freshFolder(),
  )
  const answered = async (keys: string) => {
    const pty = openPty(process.execPath, [program, 'skills', 'trust', 'review'], {
      columns: 100,
      rows: 24,
      cwd: join(root, 'workspace'),
      env: { HAWSER_HOME: join(root, 'home') },
    })
    await pty.until('[y/N]')
    pty.write(`${keys}\r`)
    return (await pty.ended).code
  }
  expect(await answered('n')).toBe(1)
  expect(await trustOf(root)).toBe('untrusted')
  expect(await answered('y')).toBe(0)
  expect(await trustOf(root)).toBe('trusted')
})

test('what cannot be trusted is reported with the reason', async () => {
  const { root } = await commandPlace()
  await writeSkill(root, 'home/skills/own')
  await writeSkill(root, 'workspace/.agents/skills/broken', '---\nname: broken\n---\n')
  const own = await runCli({ root }, 'skills', 'trust', 'own')
  expect(own.stdout).toBe('own is your own Skill and needs no trust.\n')
  const fail = async (...argv: readonly string[]) =>
    failureOf(await runCli({ root }, 'skills', ...argv, '--json'))
  expect(await fail('trust', 'broken', '--yes')).toMatchObject({ kind: 'unreadable' })
  expect(await fail('trust', 'none', '--yes')).toMatchObject({ kind: 'not_found' })
  expect(await fail('trust', '../x\u001b', '--yes')).toMatchObject({ kind: 'not_found' })
})

test('[SH-006] the example Skills are usable, without a warning', async () => {
  const { root, workspace } = await commandPlace()
  for (const [name, sources] of [
    ['review-change', ['changes', 'history', 'guide']],
    ['check-screenshot', ['screenshot', 'style']],
  ] as const) {
    for (const path of [join(EXAMPLES, name), join(EXAMPLES, name, 'SKILL.md')]) {
      const { code, stdout } = await runCli({ root }, 'skills', 'check', path, '--json')
      expect(code).toBe(0)
      const checked = Checked.parse(JSON.parse(stdout))
      expect(checked).toMatchObject({ name, usable: true, context_sources: sources, findings: [] })
      expect(checked.path).toBe(join(EXAMPLES, name, 'SKILL.md'))
    }
  }
  await expect(stat(join(workspace, '.hawser'))).rejects.toThrow('ENOENT')
})

test('a check names the context sources that every activation denies', async () => {
  const { root, workspace } = await commandPlace()
  await mkdir(join(workspace, 'review'))
  const sources = [
    '  - {id: built, command: [make], auto: true}',
    '  - {id: status, command: [git, status], auto: true}',
    '  - {id: asked, command: [make]}',
    '  - {id: outside, file: ../secret}',
    '  - {id: chosen, file: "{at}", parameters: {at: {type: path}}}',
    '  - {id: usual, file: "{at}", parameters: {at: {type: path, default: ../x}}}',
    '  - {id: writing, tool: {name: write, arguments: {path: a, content: b}}}',
    '  - {id: reading, tool: {name: read, arguments: {path: a}}}',
  ].join('\n')
  const text = `---\nname: review\ndescription: Reviews.\ncontext_sources:\n${sources}\n---\nDo it.\n`
  await writeFile(join(workspace, 'review', 'SKILL.md'), text)
  const json = await runCli({ root }, 'skills', 'check', 'review', '--json')
  expect(Checked.parse(JSON.parse(json.stdout))).toMatchObject({
    usable: true,
    denied_sources: [
      { id: 'built', reason: 'it is not known to only read, so it does not run automatically' },
      { id: 'outside', reason: 'the file "../secret" must not contain ".."' },
      {
        id: 'writing',
        reason:
          'no tool "write" can be a context source; these can: glob, grep, history_search, read',
      },
    ],
  })
  const { stdout } = await runCli({ root }, 'skills', 'check', 'review')
  expect(stdout).toContain('Context source built: denied with every activation: it is not known')
  expect(stdout).toMatch(/is usable, with 8 context sources, 3 of which are always denied\.\n$/)
})

test('a check prints file, line and what is wrong, and fails for an error', async () => {
  const { root } = await commandPlace()
  const text =
    '---\nname: other\ndescription: d\ncontext_sources:\n  - id: a\n    command: ls -l\n---\n'
  const path = await writeSkill(root, 'workspace/review', text)
  const { code, stdout } = await runCli({ root }, 'skills', 'check', 'review')
  expect(code).toBe(1)
  expect(stdout).toContain(`${path}:2: warning: `)
  expect(stdout).toContain(`${path}:6: error: "context_sources[0].command" must be a list.`)
  expect(stdout.endsWith('The Skill review is not usable.\n')).toBe(true)
  const here = await runCli({ root, folder: 'review' }, 'skills', 'check', '.')
  expect(here.stdout).toBe(stdout)
  const missing = await runCli({ root }, 'skills', 'check', 'nowhere', '--json')
  expect(failureOf(missing).kind).toBe('not_found')
  await writeFile(join(root, 'workspace/notes.md'), '')
  const other = await runCli({ root }, 'skills', 'check', 'notes.md', '--json')
  expect(failureOf(other).kind).toBe('invalid_args')
  await writeSkill(root, 'workspace/bad name')
  expect((await runCli({ root }, 'skills', 'check', 'bad name')).code).toBe(1)
})

test('a check reads a pipe or a huge file as an error and does not wait', async () => {
  const { root } = await commandPlace()
  await writeSkill(root, 'workspace/huge', `${TEXT}${'x'.repeat(256 * 1024)}`)
  const huge = await runCli({ root }, 'skills', 'check', 'huge', '--json')
  expect(failureOf(huge).kind).toBe('too_large')
  await mkdir(join(root, 'workspace/pipe'))
  execFileSync('mkfifo', [join(root, 'workspace/pipe/SKILL.md')])
  const pipe = await runCli({ root }, 'skills', 'check', 'pipe', '--json')
  expect(failureOf(pipe).kind).toBe('not_regular_file')
})

test('doctor counts the Skills and names the first warning', async () => {
  const { root } = await commandPlace()
  const path = await writeSkill(root, 'home/skills/broken', 'text')
  await writeSkill(root, 'home/skills/review')
  const { stdout } = await runCli({ root }, 'doctor')
  expect(stdout).toContain(`1 Skill, 1 warning: ${path}:1: `)
  const bundle = await runCli({ root }, 'doctor', '--bundle')
  expect(bundle.stdout).toContain('1 Skill, 1 warning')
  expect(bundle.stdout).not.toContain(path)
})

test('a damaged trust file trusts nothing, and the commands say what to do', async () => {
  const { root } = await commandPlace()
  await writeSkill(root, 'workspace/.agents/skills/review')
  await runCli({ root }, 'skills', 'trust', 'review', '--yes')
  await writeFile(join(root, 'home/trust.json'), '[]')
  expect(await trustOf(root)).toBe('untrusted')
  expect((await listed(root)).warnings).toHaveLength(1)
  const refused = await runCli({ root }, 'skills', 'untrust', 'review', '--json')
  expect(failureOf(refused)).toMatchObject({ kind: 'unreadable' })
  expect(await readFile(join(root, 'home/trust.json'), 'utf8')).toBe('[]')
})

import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commandSource, handSource } from '../../support/session/hand-skills.ts'
import { say } from '../../support/resources/sample-files.ts'
import { decisions, hydrations, results } from '../../support/skills/skill-session.ts'
import { value } from '../../support/log/story.ts'
import { scene } from './hydration-scene.ts'

describe('arguments and paths', () => {
  test.each([
    ['a second command', 'x; rm -rf .'],
    ['a line break', 'a\nb'],
    ['an option', '--output=x'],
    ['a parent folder', '../../x'],
    ['an absolute path', '/etc/passwd'],
    ['a home', '~/.ssh/id_rsa'],
  ])('of the model are checked: %s', async (_, path) => {
    const source = commandSource('show', ['cat', '{path}'], {
      parameters: { path: { type: 'path' } },
    })
    const { session, unchanged } = await scene([source], 'auto')
    const call = `Hydrate show of facts with \`${JSON.stringify({ path })}\``
    expect(await say(session, call, { skills: [{ name: 'facts' }] })).toBe('completed')
    const [made] = hydrations(session)
    // Shell syntax is only a strange name.
    const kind = path.startsWith('x;') ? 'hydration_failed' : 'invalid_args'
    expect([made?.status, made?.error?.kind]).toEqual(['failed', kind])
    expect(results(session).at(-1)).toMatchObject({ outcome: 'failed', error: { kind } })
    expect(decisions(session)).toHaveLength(kind === 'invalid_args' ? 0 : 1)
    expect(await unchanged()).toBe(true)
  })

  test('what is not declared cannot be hydrated', async () => {
    const { session } = await scene([commandSource('list', ['ls'])], 'auto')
    expect(await say(session, 'Hydrate other of facts', { skills: [{ name: 'facts' }] })).toBe(
      'completed',
    )
    expect(results(session).at(-1)).toMatchObject({
      outcome: 'failed',
      error: { kind: 'invalid_args', details: { declared: ['list'] } },
    })
    expect([hydrations(session), decisions(session)]).toEqual([[], []])
  })

  test('a file stays in the workspace, whatever its path and whatever a link says', async () => {
    const files = {
      parent: '../outside.txt',
      absolute: '/etc/passwd',
      home: '~/.ssh/id_rsa',
      link: 'link.txt',
      through: 'folder/outside.txt',
      own: '.hawser/sessions',
      missing: 'missing.txt',
      binary: 'binary.dat',
      folder: 'inside',
    }
    const sources = Object.entries(files).map(([id, path]) =>
      handSource(id, { kind: 'file', path }),
    )
    const at = await scene(sources, 'auto')
    await writeFile(join(at.workspace, '../outside.txt'), 'outside')
    await symlink('../outside.txt', join(at.workspace, 'link.txt'))
    await symlink('..', join(at.workspace, 'folder'))
    await mkdir(join(at.workspace, 'inside'))
    await writeFile(join(at.workspace, 'binary.dat'), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1]))
    // A message with such a declaration is refused; the model gets a structured error.
    for (const id of ['parent', 'absolute', 'home']) {
      const refused = await at.session.admit('Thanks.', {
        skills: [{ name: 'facts', with: [{ id }] }],
      })
      expect(refused.ok ? 'ok' : refused.error.kind).toBe('invalid_args')
    }
    const made = await at.hydrate('link', 'through', 'own', 'missing', 'binary', 'folder')
    expect(made.map(({ status, error, output }) => [status, error?.kind, output])).toEqual([
      ['failed', 'not_regular_file', ''],
      ['failed', 'outside_workspace', ''],
      ['failed', 'protected_path', ''],
      ['failed', 'not_found', ''],
      ['failed', 'unsupported_type', ''],
      ['failed', 'not_regular_file', ''],
    ])
  })
})

describe('a Skill that changes', () => {
  test('after its activation hydrates as it was activated; edited, it is another Skill', async () => {
    const { session, skills } = await scene(
      [handSource('file', { kind: 'file', path: 'a.txt' })],
      'auto',
      {
        skill: { trust: 'trusted', root: '<repo>/.agents/skills' },
      },
    )
    const turn = value(
      await session.admit('Hydrate file of facts', { skills: [{ name: 'facts' }] }),
    )
    // The edit ends the trust, and would read another file.
    skills.set('facts', {
      trust: 'untrusted',
      root: '<repo>/.agents/skills',
      sources: [handSource('file', { kind: 'file', path: 'b.txt' })],
    })
    expect(value(await turn.done).status).toBe('completed')
    expect(hydrations(session)).toMatchObject([{ status: 'ok', output: 'a\n' }])
    const refused = await session.admit('Thanks.', { skills: [{ name: 'facts' }] })
    expect(refused.ok ? 'ok' : refused.error.kind).toBe('permission_denied')
    // The model cannot activate it either, so it hydrates nothing.
    expect(await say(session, 'Use the skill facts. Then hydrate file of facts.')).toBe('completed')
    expect(hydrations(session)).toHaveLength(1)
    expect(results(session).at(-1)).toMatchObject({
      outcome: 'failed',
      error: { kind: 'invalid_args' },
    })
  })
})

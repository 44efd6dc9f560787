import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sha256 } from '../../../src/encoding/hash.ts'
import type { Session } from '../../../src/session/session.ts'
import { SKILL_TOOLS, TOOLSET, toolSchemas } from '../../../src/tools/toolset.ts'
import { value } from '../../support/log/story.ts'
import { WAYS } from '../../support/providers/ways.ts'
import { verified } from '../../support/resources/resource-events.ts'
import { oneOfEach, say } from '../../support/resources/sample-files.ts'
import { handSource } from '../../support/session/hand-skills.ts'
import { skillPlace } from '../../support/skills/skill-session.ts'

/** The whole next request, as its hash. */
async function nextRequest(session: Session): Promise<string> {
  return sha256(value(await session.preview('And now?')).body)
}

function lastRequest({ events }: Session) {
  const request = events.findLast(({ type }) => type === 'provider_request')
  return request?.type === 'provider_request' ? request.data : expect.fail('no request')
}

test.each(WAYS)(
  '%s: Skills, tools and files that change on disk change no byte of the next request of a Session, of its forks, and of both in a new process',
  async (way) => {
    const guided = {
      body: 'Follow the guide.\n',
      sources: [handSource('guide', { kind: 'file', path: 'guide.md' })],
    }
    const at = await skillPlace(way, { guided, review: {}, gone: {} })
    await writeFile(join(at.workspace, 'guide.md'), 'Names are short.\n')
    await writeFile(join(at.workspace, 'notes.txt'), 'The tide turns at six.\n')
    const attachments = (await oneOfEach(at.workspace)).map(({ input }) => input)
    const session = value(await at.harness.create(at.begin))
    const skills = [{ name: 'guided', with: [{ id: 'guide' }] }]
    expect(await say(session, 'What do you see?', { attachments, skills })).toBe('completed')
    expect(await say(session, 'Read notes.txt')).toBe('completed')
    const expected = await nextRequest(session)

    at.skills.delete('gone')
    at.skills.set('guided', { description: 'another guide' })
    at.skills.set('added', {})
    for (const name of ['guide.md', 'notes.txt', 'crew.txt'])
      await writeFile(join(at.workspace, name), 'changed\n')
    await rm(join(at.workspace, 'harbour.png'))
    const before = value(await at.harness.fork(session.id))
    // A process of another version, which has other tools.
    const tools = { schemas: toolSchemas([...TOOLSET.slice(2), ...SKILL_TOOLS]) }
    const later = await skillPlace(way, { added: {} }, { root: at.root, changes: { tools } })
    const after = value(await later.harness.fork(before.session_id))
    const opened = await Promise.all([
      at.harness.open(before.session_id),
      later.harness.open(session.id),
      later.harness.open(before.session_id),
      later.harness.open(after.session_id),
    ])
    const others = opened.map((one) => value(one))
    for (const one of [session, ...others]) expect(await nextRequest(one)).toBe(expected)

    const [here, resumed, child, grandchild] = others
    if (grandchild === undefined) return expect.fail('no grandchild')
    await Promise.all([here?.close(), resumed?.close(), child?.close()])
    for (const one of [session, grandchild])
      expect(await say(one, 'Who are you?')).toBe('completed')
    const { request_sha256, request_bytes, cache_key } = lastRequest(session)
    expect(lastRequest(grandchild)).toMatchObject({ request_sha256, request_bytes, cache_key })
    expect(lastRequest(grandchild).prefix_break).toBeUndefined()
    for (const one of [session, grandchild]) {
      await one.close()
      await verified(later, one)
    }
  },
)

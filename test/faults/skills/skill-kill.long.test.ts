import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { verified } from '../../support/resources/resource-events.ts'
import { say } from '../../support/resources/sample-files.ts'
import { hydrations } from '../../support/skills/skill-session.ts'
import { value } from '../../support/log/story.ts'
import { startChild } from '../support/child.ts'
import { FIRST, prepareWorkspace, skillChanges } from './skill-kill-scene.ts'

test('a Turn with Skills that is killed after any Event leaves a Log that resumes', async () => {
  const folder = await freshFolder()
  const script = await bundleScript(new URL('skill-kill-child.ts', import.meta.url), folder)
  const left = new Set<string>()
  for (let after = 2, done = false; !done; after += 1) {
    const root = join(folder, String(after))
    await mkdir(root)
    await prepareWorkspace(root)
    const child = startChild(script, { root, after, early: after % 2 === 0 })
    const ending = await child.ended
    expect(ending.complaint).toBe('')
    done = ending.signal === null
    const opened = child.reports.find(({ what }) => what === 'opened')
    if (opened?.what !== 'opened') throw new Error('no Session')
    const place = await harnessPlace(skillChanges(), root)
    const session = value(await place.harness.open(opened.session))
    left.add(session.events.at(-1)?.type ?? '')
    const before = hydrations(session).length
    expect(await say(session, ...FIRST)).toBe('completed')
    // Nothing of the killed Turn is repeated, and the new Turn has all of its own.
    expect(hydrations(session).length - before).toBe(6)
    const ids = session.events.flatMap((e) => (e.type === 'skill_activation' ? [e.id] : []))
    for (const one of hydrations(session)) expect(ids).toContain(one.activation_event_id)
    await verified(place, session)
    await session.close()
  }
  for (const type of ['skill_activation', 'permission_decision', 'skill_context_hydration'])
    expect(left).toContain(type)
})

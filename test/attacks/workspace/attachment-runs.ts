import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../../src/host/clock.ts'
import { openConfined, type ConfinedFiles } from '../../../src/host/files/confined-files.ts'
import {
  resolveAttachments,
  type ResolverParts,
} from '../../../src/resources/resolve-attachments.ts'
import { value } from '../../support/log/story.ts'
import {
  ATTACHMENT_CASES,
  buildAttachmentScene,
  CANARY,
  type AttachmentCase,
  type AttachmentScene,
} from './attachment-scene.ts'

export interface AttachmentRun {
  readonly tried: number
  /** One sentence each. */
  readonly wrong: readonly string[]
}

/** Passes every case to the resolver, as a person and as a caller restricted to the workspace, by path and by link. */
export async function runAttachmentCases(base: string): Promise<AttachmentRun> {
  const scene = await buildAttachmentScene(base)
  const refuse = [join(scene.workspace, '.hawser')]
  const files = value(await openConfined(scene.workspace, { refuse }))
  const wrong: string[] = []
  let tried = 0
  for (const one of ATTACHMENT_CASES.filter((some) => isTried(some, scene))) {
    for (const who of ['person', 'confined'] as const) {
      for (const from of ['path', 'link'] as const) {
        tried += 1
        wrong.push(...(await offences(one, { who, from, files, scene })))
      }
    }
  }
  await files.close()
  // So that it can be removed.
  await chmod(join(scene.workspace, 'closed'), 0o700)
  return { tried, wrong }
}

interface Attempt {
  readonly who: 'person' | 'confined'
  readonly from: 'path' | 'link'
  readonly files: ConfinedFiles
  readonly scene: AttachmentScene
}

/** What the system refuses to `nobody`, it does not refuse to root. */
function isTried({ needs }: AttachmentCase, { devices }: AttachmentScene): boolean {
  if (needs === 'devices') return devices
  return needs !== 'rights' || process.getuid?.() !== 0
}

async function offences(
  one: AttachmentCase,
  { who, from, files, scene }: Attempt,
): Promise<string[]> {
  const path = one.path.replace('{ws}', scene.workspace)
  const uri = `file://${path.split('/').map(encodeURIComponent).join('/')}`
  const kept: string[] = []
  const keep: NonNullable<ResolverParts['keep']> = async (pieces, type) => {
    for await (const piece of pieces) kept.push(Buffer.from(piece).toString('latin1'))
    return {
      ok: false,
      error: { kind: 'storage_failed', message: type, details: {}, next_actions: [] },
    }
  }
  const resolved = await resolveAttachments([from === 'path' ? { from, path } : { from, uri }], {
    clock: systemClock,
    keep,
    ...(who === 'confined' ? { workspaceFiles: files } : {}),
  })
  const answer = resolved.ok ? resolved.value[0] : undefined
  const got = answer === undefined ? 'taken' : answer.ok ? 'an answer' : answer.error.code
  const error = answer?.ok === false ? answer.error : undefined
  const subject = `${who} attached ${JSON.stringify(one.path.slice(0, 60))} as a ${from}`
  return [
    ...(got === one[who] ? [] : [`${subject}: ${got}, not ${one[who]}`]),
    ...(error === undefined || one.reason?.test(error.reason) !== false
      ? []
      : [`${subject}: ${error.reason}`]),
    ...(JSON.stringify(error ?? {}).includes(scene.workspace)
      ? [`${subject}: revealed a path`]
      : []),
    ...(who === 'confined' && kept.join('').includes(CANARY)
      ? [`${subject}: read a file outside`]
      : []),
  ]
}

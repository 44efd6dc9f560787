import type { Engine } from '../model/modes.ts'
import { fileFrameStore, type FileStoreParts } from '../tether/frames/files/file-store.ts'
import type { FrameStore } from '../tether/frames/frame-store.ts'

/** The store of frames of each engine. Apart from `engine.ts`, so that a command without Instances does not load it. */
const ENGINES: Readonly<Record<Engine, (files: FileStoreParts) => FrameStore>> = {
  files: fileFrameStore,
}

/** Where the frames of Instances are stored, by the person's setting. */
export function frameStore(engine: Engine | undefined, files: FileStoreParts): FrameStore {
  return ENGINES[engine ?? 'files'](files)
}

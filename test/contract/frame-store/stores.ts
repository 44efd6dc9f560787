import { diskFolder } from '../../../src/host/files/disk.ts'
import { closing, type Folder } from '../../../src/host/files/files.ts'
import { systemIds } from '../../../src/host/ids.ts'
import type { InstanceId } from '../../../src/model/ids.ts'
import { fileFrameStore } from '../../../src/tether/frames/files/file-store.ts'
import { CrashDisk } from '../../support/host/crash-disk.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { virtualClock, type VirtualClock } from '../../support/host/virtual-clock.ts'
import { overwrite, rawBytes } from '../../support/log/raw-log.ts'
import { MemoryFrames } from '../../support/tether/memory-frames.ts'
import { startFrameProgram } from './frame-program.ts'
import { entry, type FramesUnderTest } from './under-test.ts'

/** Files on the disk of this machine. */
export async function realFiles(): Promise<FramesUnderTest> {
  const path = await freshFolder()
  const folder = await diskFolder(path)
  return {
    ...onFolder(folder, folder, virtualClock()),
    program: () => startFrameProgram(path),
    renew: realFiles,
    close: () => folder.close(),
  }
}

/** Files on the disk that crashes, as a program sees it that uses them by `seen`. */
export async function crashingFiles(
  seen: (folder: Folder) => Folder = (folder) => folder,
): Promise<FramesUnderTest> {
  return onCrashDisk(new CrashDisk(1), virtualClock(), seen)
}

function onCrashDisk(
  disk: CrashDisk,
  clock: VirtualClock,
  seen: (folder: Folder) => Folder,
): FramesUnderTest {
  return {
    ...onFolder(seen(disk.folder()), disk.folder(), clock),
    tears: true,
    ends: {
      injectFaults: (faults) => disk.injectFaults(faults),
      steps: () => disk.steps,
      after: (how, seed) =>
        onCrashDisk(how === 'power' ? disk.afterCrash(seed) : disk.afterKill(seed), clock, seen),
    },
    renew: () => crashingFiles(seen),
    close: async () => {},
  }
}

/** Stores of two processes that use a folder by `seen`; tests change what is there by `folder`. */
function onFolder(seen: Folder, folder: Folder, clock: VirtualClock) {
  const store = () => fileFrameStore({ home: seen, clock, ids: systemIds(clock) })
  const framesOf = async (instance: InstanceId) => {
    const instances = await folder.folder('instances', 'open')
    const own = await closing(instances, () => instances.folder(instance, 'open'))
    return closing(own, () => own.folder('frames', 'open'))
  }
  return {
    store: store(),
    other: store(),
    clock,
    seize: async (instance: InstanceId) =>
      closing(await framesOf(instance), (frames) => frames.remove('lease')),
    damage: async (instance: InstanceId, seq: number) => {
      const frames = await framesOf(instance)
      for (const name of await frames.names()) {
        const bytes = await rawBytes(frames, name)
        const at = bytes.indexOf(entry(seq).text)
        if (at === -1) continue
        bytes.write('X', at + 12)
        await overwrite(frames, name, bytes)
      }
      await frames.close()
    },
  }
}

/** Frames in memory. */
export async function memoryFrames(): Promise<FramesUnderTest> {
  const clock = virtualClock()
  return inMemory(new MemoryFrames(clock), clock)
}

function inMemory(memory: MemoryFrames, clock: VirtualClock): FramesUnderTest {
  return {
    store: memory.store,
    other: memory.store,
    clock,
    seize: async (instance) => memory.seize(instance),
    damage: async (instance, seq) => memory.damage(instance, seq),
    ends: {
      injectFaults: (faults) => memory.injectFaults(faults),
      steps: () => memory.steps,
      after: (_how, seed) => inMemory(memory.afterEnd(seed), clock),
    },
    renew: memoryFrames,
    close: async () => {},
  }
}

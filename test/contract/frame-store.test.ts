import { frameStoreContract } from './frame-store.ts'
import { crashingFiles, memoryFrames, realFiles } from './frame-store/stores.ts'

// One suite for every store: any store that passes it can replace another.
frameStoreContract('frames in files', 'program', realFiles)
frameStoreContract('frames in files on a disk that crashes', 'ends', crashingFiles)
frameStoreContract('frames in memory', 'ends', memoryFrames)

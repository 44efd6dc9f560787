// Imported before a program: answers each message of its parent with the bytes that live objects use.
import process from 'node:process'
import { liveBytes } from '../test/support/host/live-bytes.ts'

process.on('message', () => void liveBytes().then((bytes) => process.send?.(bytes)))
// The program ends by itself.
process.channel?.unref()

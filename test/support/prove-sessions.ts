// Proves one part of the Sessions below a folder and prints the tally. A separate process, so that its memory is freed:
// `node --import tsx prove-sessions.ts <root> <part> <of>`.
import process from 'node:process'
import { proveSessions } from './session-proof.ts'

const [root = '', part = '0', of = '1'] = process.argv.slice(2)
process.stdout.write(JSON.stringify(await proveSessions(root, Number(part), Number(of))))

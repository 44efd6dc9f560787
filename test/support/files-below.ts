import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

export function logsBelow(root: string): Promise<string[]> {
  return filesBelow(root, '*/.hawser/*sessions/ses_*.ndjson')
}

export function headsBelow(root: string): Promise<string[]> {
  return filesBelow(root, '*/heads/ses_*')
}

/** Sorted, so that processes that divide the files among themselves miss none. */
async function filesBelow(root: string, pattern: string): Promise<string[]> {
  const options = { maxBuffer: 256 * 1024 * 1024 }
  const found = await promisify(execFile)(
    'find',
    [root, '-type', 'f', '-path', pattern, '-print0'],
    options,
  )
  return found.stdout
    .split('\0')
    .filter((path) => path !== '')
    .toSorted()
}

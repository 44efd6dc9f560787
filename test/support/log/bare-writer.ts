// A process that opens a Session, appends one deferrable Event and prints the result. Nothing else keeps it alive, so a
// test can check that a pending append does.
import { acquireLog } from '../../../src/log/open.ts'
import { SessionId } from '../../../src/model/ids.ts'
import { diskPlace } from './disk-place.ts'
import { textFold } from './text-fold.ts'

const [path = '', session = ''] = process.argv.slice(2)
const { place, keep } = await diskPlace(path)
const taken = await acquireLog(place, SessionId.parse(session), { fold: textFold, keep })
if (taken.ok) {
  const pinned = await taken.value.append([
    { type: 'text_pinned', data: { text: 'x', by: 'person' } },
  ])
  process.stdout.write(JSON.stringify({ taken: true, appended: pinned.ok }))
  await taken.value.release()
} else {
  process.stdout.write(JSON.stringify({ taken: false, kind: taken.error.kind }))
}

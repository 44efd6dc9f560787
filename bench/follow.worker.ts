// The other process of follow.bench.ts: appends to the Log at a place. Each text contains the time it was passed to the Log; the
// output on stdout contains the time each was acknowledged. All processes of a machine share the clock of hrtime.
import { setTimeout } from 'node:timers/promises'
import process from 'node:process'
import { acquireLog } from '../src/log/open.ts'
import { SessionId } from '../src/model/ids.ts'
import { diskPlace } from '../test/support/log/disk-place.ts'
import { random } from '../test/support/host/random.ts'
import { value } from '../test/support/log/story.ts'
import { textFold } from '../test/support/log/text-fold.ts'

const [path = '', id, count] = process.argv.slice(2)
const { place, keep } = await diskPlace(path)
const session = SessionId.parse(id)
const writer = value(await acquireLog(place, session, { fold: textFold, keep }))
const turn_id = place.ids.turn()
const acknowledged: number[] = []
const chance = random(1)

while (acknowledged.length < Number(count)) {
  // Usually one at a time, occasionally many at once.
  const together = chance.below(20) === 0 ? 10 : 1
  await Promise.all(Array.from({ length: together }, append))
  await setTimeout(chance.below(15))
}
await writer.release()
console.log(JSON.stringify(acknowledged))

async function append(): Promise<void> {
  const text = `${millis()}`
  const data = { text, prompt_mode: 'string' } as const
  value(await writer.append([{ type: 'user_message', turn_id, data }]))
  acknowledged.push(millis())
}

function millis(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

import type { Clock } from '../../../host/clock.ts'
import type { Streams } from '../../../host/streams.ts'
import { Display } from '../screen/display.ts'
import { listenToKeys } from '../screen/keyboard.ts'
import type { PickerOrder } from './picker.ts'
import { Picking } from './picking.ts'

interface PickParts {
  /** Both standard input and output must be a terminal. */
  readonly streams: Streams
  readonly clock: Clock
  readonly colour: boolean
}

/** Lets a person choose before there is a chat. Leaves the terminal as it was; `undefined` if they cancel. */
export async function pickAtTerminal<T>(
  parts: PickParts,
  order: (changed: () => void) => PickerOrder<T>,
): Promise<T | undefined> {
  const { streams, clock } = parts
  const defect = new AbortController()
  const refresh = () => display.refresh()
  const picking = new Picking(refresh)
  const display = new Display(parts, {
    scene: () => ({
      open: [],
      activity: [],
      question: (columns, most) => picking.rows(columns, most),
      draft: undefined,
      hint: picking.hint(),
      cursor: 'none',
    }),
    onResize: () => {},
    onDefect: (reason) => {
      defect.abort(reason)
      picking.close()
    },
  })
  const choice = picking.pick(order(refresh))
  const cancel = () => picking.close()
  const stops = [
    listenToKeys(streams.stdin, clock, (key) => void picking.take(key), cancel),
    streams.onSignal('SIGTERM', cancel),
    streams.onSignal('SIGHUP', cancel),
  ]
  display.open()
  try {
    const result = await choice
    defect.signal.throwIfAborted()
    return result
  } finally {
    for (const stop of stops) stop()
    await display.close()
  }
}

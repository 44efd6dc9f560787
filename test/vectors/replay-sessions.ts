import { drawing, png } from '../support/resources/drawing.ts'
import { random } from '../support/host/random.ts'
import type { PlannedSession, PlannedTurn } from '../support/pressure/recorded-session.ts'
import { buildPdf } from '../support/resources/build-pdf.ts'

/** The Sessions that the traces in `replay/` were recorded from. */
export interface ReplaySession extends PlannedSession {
  readonly name: string
  readonly what: string
}

/** The same Sessions in every run. */
export function replaySessions(): ReplaySession[] {
  return [shortTurns(), longToolLoops(), manyImages()]
}

/** Questions and answers about a screen. */
function shortTurns(): ReplaySession {
  const files = new Map(
    ['log.md', 'tides.md', 'crew.md', 'cargo.md', 'rules.md'].map((name, at) => {
      return [`notes/${name}`, prose(100 + at, 300 + at * 450)]
    }),
  )
  const turns: PlannedTurn[] = [
    turn(0, 'What do you see?', [draw(files, 'screen-1.png', 78_000)]),
    turn(15, 'Is that the harbour at low water, or am I mistaken?'),
    turn(22, 'Read notes/tides.md'),
    turn(67, 'What do you see on this one?', [draw(files, 'screen-2.png', 147_000)]),
    turn(60, 'The chart is from last spring. The buoys were moved since, as far as I remember.'),
    turn(30, 'Who are you?'),
    turn(940, 'I am back. Read notes/log.md and then notes/crew.md.'),
    turn(29, 'Here is the window with the error. What do you see?', [
      draw(files, 'screen-3.png', 22_000),
    ]),
    turn(41, 'Thank you.'),
    turn(18, 'It is still there after I started it again.'),
    turn(66, 'Search for "tide" in the notes.'),
    turn(14, 'That is fewer than I thought.'),
    turn(35, 'And now?', [draw(files, 'screen-4.png', 104_000)]),
    turn(74, 'List the files in notes'),
    turn(39, 'Good. The second one is the one that matters.'),
    turn(27, 'Read notes/cargo.md, then notes/rules.md.'),
    turn(92, 'What does this plan say?', [pdf(files, 'plan.pdf', 12)]),
    turn(409, 'Let us go on with the list of the crew.'),
    turn(36, 'Read the first 5 lines of notes/crew.md'),
    turn(110, 'This is how it looks on the small screen.', [draw(files, 'screen-5.png', 54_000)]),
    turn(21, 'The letters are too small for me, and the lines are too close together.'),
    turn(16, 'Better than before, at least.'),
    turn(75, 'And the large one.', [draw(files, 'screen-6.png', 203_000)]),
    turn(17, 'Read notes/log.md'),
    turn(33, 'I think that is all for today.'),
    turn(61, 'Good night.'),
  ]
  const what = 'Questions and answers: many Turns of a call or a few, a picture now and then, pauses between.'
  return { name: 'short-turns', what, files, turns }
}

/** A model reads its way through a code base. */
function longToolLoops(): ReplaySession {
  const chance = random(2)
  const files = new Map<string, Buffer>()
  const names = Array.from({ length: 60 }, (_, at) => {
    const name = `src/${chance.pick(WORDS)}-${at}.ts`
    files.set(name, code(at, 400 + chance.below(chance.pick([2_000, 5_000, 9_000]))))
    return name
  })
  const reading = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => names[(from + at) % names.length]).join(', then ')
  const fault = [draw(files, 'fault.png', 212_000), pdf(files, 'protocol.pdf', 30)]
  const turns: PlannedTurn[] = [
    turn(0, `The picture shows the fault. Read ${reading(0, 36)}.`, fault),
    turn(45, `Read ${reading(36, 24)}, then search for "tide" in src.`),
    turn(102, `Read ${reading(5, 20)}.`),
    turn(20, `Now read ${reading(30, 32)}, then list the files in src.`),
    turn(153, `Read ${reading(12, 28)}.`),
    turn(73, 'Say in a word what you have done.'),
  ]
  const what =
    'Work on a code base: few Turns with dozens of calls in each, a picture of the fault and a document at the beginning.'
  return { name: 'long-tool-loops', what, files, turns }
}

/** Images are compared and sorted, several per message. */
function manyImages(): ReplaySession {
  const chance = random(3)
  const files = new Map([
    ['list.md', prose(200, 1_400)],
    ['places.md', prose(201, 3_000)],
    ['names.md', prose(202, 700)],
  ])
  let drawn = 0
  const some = (count: number) =>
    Array.from({ length: count }, () => {
      drawn += 1
      return draw(files, `photo-${drawn}.png`, 20_000 + chance.below(280_000))
    })
  const turns: PlannedTurn[] = [
    turn(0, 'What do you see?', some(3)),
    turn(50, 'Read list.md'),
    turn(114, 'These are from the same day. What do you see?', some(2)),
    turn(64, 'Read places.md, then names.md. What do you see?', some(3)),
    turn(33, 'Put the brightest first.'),
    turn(124, 'Here is one more.', some(1)),
    turn(18, 'And these.', some(4)),
    turn(136, 'Read the first 10 lines of places.md, then search for "harbour".', some(2)),
    turn(50, 'Which of them are alike?'),
    turn(86, 'These came this morning. What do you see?', some(2)),
    turn(23, 'The last one.', some(1)),
    turn(44, 'Read list.md, then names.md.'),
  ]
  const what = 'Pictures, several with a message, are compared and sorted, and files are read in between.'
  return { name: 'many-images', what, files, turns }
}

function turn(after_s: number, text: string, attachments: readonly string[] = []): PlannedTurn {
  return { after_s, text, attachments }
}

/** A unique image of this many bytes. */
function draw(files: Map<string, Buffer>, name: string, bytes: number): string {
  const { width, height, pixels } = drawing(bytes + files.size)
  files.set(name, png(width, height, pixels, bytes))
  return name
}

function pdf(files: Map<string, Buffer>, name: string, pages: number): string {
  const texts = Array.from({ length: pages }, (_, page) => prose(300 + page, 2_400).toString())
  files.set(name, buildPdf(texts))
  return name
}

const WORDS = (
  'anchor ballast beacon berth bight bilge bollard bow buoy cable cargo channel chart compass ' +
  'crane current deck dock draught ebb fathom fender ferry gale harbour hatch hawser helm hull ' +
  'jetty keel knot lantern lee lock mast mooring pier pilot port quay rope rudder sail shoal ' +
  'shore sluice sounding stern tide tow wharf wind winch'
).split(' ')

/** Lines of words, about this many bytes in total. */
function prose(seed: number, bytes: number): Buffer {
  const chance = random(seed)
  return lines(bytes, () => {
    const count = 6 + chance.below(8)
    return `The ${Array.from({ length: count }, () => chance.pick(WORDS)).join(' ')}.`
  })
}

function code(seed: number, bytes: number): Buffer {
  const chance = random(seed)
  return lines(bytes, () => {
    const [name, one, other] = [chance.pick(WORDS), chance.pick(WORDS), chance.pick(WORDS)]
    return `  const ${name} = ${one}(${chance.below(1_000)}, '${other}')`
  })
}

function lines(bytes: number, next: () => string): Buffer {
  let text = ''
  while (text.length < bytes) text += `${next()}\n`
  return Buffer.from(text)
}

import { FACES, turnWith } from '../support/history/faces.ts'
import { TOLD, TOLD_AT_END, type ToldCase } from '../support/history/told-events.ts'
import { table } from './table.ts'

/** What every face says in each case in which a person must be informed, as the faces themselves say it. */
export async function faceTable(): Promise<string> {
  const cases: readonly ToldCase[] = [...Object.values(TOLD).flat(), TOLD_AT_END]
  const rows: string[][] = []
  for (const one of cases) {
    const cells = Object.values(FACES).map((face) => formOf(one, face))
    rows.push([`\`${one.code}\``, one.when, ...(await Promise.all(cells))])
  }
  return table(['code', 'when', ...Object.keys(FACES)], rows)
}

async function formOf(
  { draft, mark, code }: ToldCase,
  face: (typeof FACES)[keyof typeof FACES],
): Promise<string> {
  const said = await face(turnWith(draft))
  const forms = said.filter(({ text }) => text.includes(mark)).map(({ form }) => form)
  if (forms.length === 0) throw new Error(`a face does not tell ${code}`)
  return [...new Set(forms)].join(', ')
}

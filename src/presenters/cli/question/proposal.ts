import type { Line } from '../text/cell-width.ts'
import { quote } from '../../../encoding/quote.ts'
import { uploadWords } from '../text/resource-words.ts'
import { argumentWords } from '../../../history/results/notice-words.ts'
import { hydrationQuestion } from '../text/skill-lines.ts'
import { visibleLine } from '../text/visible-text.ts'
import type { Question } from '../../../session/questions/session-questions.ts'
import { aside, sentences, verbatim } from '../screen/rows.ts'
import { callTitle, fileChange, proposalRows } from '../screen/tool-rows.ts'

/** The question and its reason: the rows that always stay visible. Pure. */
export function questionTitle(question: Question, columns: number): Line[] {
  const { network, reason } = question
  const title = sentences(titleOf(question), {
    columns,
    first: '? ',
    firstStyle: { bold: true, colour: 'yellow' },
    style: { bold: true },
  })
  const withNetwork = network === true ? ', with the network' : ''
  const why = `Reason for asking: ${reason}${withNetwork}.`
  return [...title.slice(0, 2), ...sentences(why, { columns, first: '  ', style: { dim: true } })]
}

/** Everything that would be done: the command, or the change with line numbers and context. Pure. */
export function proposalOf(question: Question, columns: number): Line[] {
  const { effect, paths, upload, hydration, diff, call_id } = question
  if (upload !== undefined) return []
  if (hydration !== undefined) return hydrationRows(question, columns)
  if (call_id === undefined)
    return paths.flatMap((path) =>
      sentences(visibleLine(path), { columns, first: '  ', style: { dim: true } }),
    )
  const [written, place] = paths
  const folder = effect === 'run' && written !== undefined ? [aside(`  in folder ${written}`)] : []
  const leads = place !== undefined && place !== written ? [aside(`  leads to ${place}`)] : []
  const body =
    diff === undefined ? proposalRows(callOf(question), columns) : changeRows(diff, columns)
  return [...folder, ...leads, ...body]
}

/** The title of the call, or ours if the question is not about a call. */
function titleOf(question: Question): string {
  const { tool, upload, hydration, call_id } = question
  if (upload !== undefined) return uploadWords(upload)
  if (hydration !== undefined) return hydrationQuestion(hydration)
  return call_id === undefined ? tool : callTitle(callOf(question))
}

/** Where the Skill comes from, and exactly what would run or be read. */
function hydrationRows({ hydration, paths }: Question, columns: number): Line[] {
  const { skill = '', from, argv } = hydration ?? {}
  const rows = (label: string, text: string) =>
    verbatim(visibleLine(text), { columns, first: `  ${label} `, firstStyle: { dim: true } })
  return [
    ...(from === undefined ? [] : rows(`${visibleLine(skill)} is from`, from)),
    ...(argv === undefined ? [] : rows('runs', argumentWords(argv))),
    ...paths.flatMap((path) => rows('reads', quote(path))),
  ]
}

function callOf({ tool, arguments: text = '' }: Question) {
  return { name: tool, arguments: text }
}

function changeRows(diff: string, columns: number): Line[] {
  if (diff === '') return [aside('  The content of the file stays the same.')]
  return fileChange(diff, columns)
}

import type { Requirement } from './requirement.ts'

/**
 * What the Log and the model receive about a Turn, every face reports to its person: what was withheld, denied, lost or not
 * believed.
 */
export const FACES: readonly Requirement[] = [
  {
    id: 'AR-001',
    source: 'architecture:third-round.1',
    owner: 'faces',
    text: '`hawser run` prints each notice of the Log on standard error, once',
  },
  {
    id: 'AR-002',
    source: 'architecture:third-round.1',
    owner: 'faces',
    text: '`hawser run --json` has each notice as an Event, once',
  },
  {
    id: 'AR-003',
    source: 'architecture:third-round.1',
    owner: 'faces',
    text: '`hawser chat` shows each notice, once',
  },
  {
    id: 'AR-004',
    source: 'architecture:third-round.1',
    owner: 'faces',
    text: 'A client of the HTTP streams receives each notice, once',
  },
  {
    id: 'AR-005',
    source: 'architecture:third-round.1',
    owner: 'faces',
    text: 'A program that uses the library receives each notice, once',
  },
  {
    id: 'AR-006',
    source: 'architecture:third-round.1',
    owner: 'faces',
    text: 'An editor over ACP shows each notice, once',
  },
  {
    id: 'AR-007',
    source: 'architecture:third-round.1',
    owner: 'faces',
    text: 'A host of the tether receives the notices of a message in `assistant.done`',
  },
  {
    id: 'AR-008',
    source: 'architecture:third-round.1',
    owner: 'faces',
    text: 'A host over MCP receives the notices of a message with its answer',
  },
  {
    id: 'AR-009',
    source: 'architecture:third-round.1',
    owner: 'faces',
    text: 'What was withheld, denied, quarantined or lost in a Turn is in the result that each face gives of it',
  },
  {
    id: 'AR-010',
    source: 'architecture:third-round.1',
    owner: 'faces',
    text: 'One table decides for each Event kind and each face what the person is told; a kind without a decision stops the build',
  },
  {
    id: 'AR-013',
    source: 'architecture:third-round.2',
    owner: 'dialects',
    text: 'Where notes of Hawser are in a user block, no file, tool result or text of a person has their tag in a request',
    ruling:
      'The encoder escapes it, without a nonce; the Log and the blobs keep the original. Where every note has a developer or system role, no byte changes',
  },
  {
    id: 'AR-011',
    source: 'architecture:third-round.1',
    owner: 'telegram',
    text: 'A Telegram chat shows the notices of a message',
  },
  {
    id: 'AR-012',
    source: 'architecture:third-round.1',
    owner: 'web',
    text: 'The web app shows each notice, once',
  },
]

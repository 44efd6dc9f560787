import type { Requirement } from './requirement.ts'

/** Links that were not copied or not fetched. The document accepts every link as a descriptor; the rulings say what it holds. */
export const LINKS: readonly Requirement[] = [
  {
    id: 'SR-048',
    source: 'session-resources:decision.8,decision.9',
    owner: 'acp',
    text: 'A local link that cannot be copied is still accepted as a descriptor, alone or beside others, and never fails a prompt',
    ruling:
      'Kind `link`, `source_uri_scheme: file`, `rehydratable: false`, and in `not_copied` the attachment code: missing, a folder, a symbolic link, too large, of another type, unreadable',
  },
  {
    id: 'SR-049',
    source: 'session-resources:decision.8',
    owner: 'acp',
    text: 'The descriptor of a local link has its basename and no `uri`: no local path is in the Log or in a request',
  },
  {
    id: 'SR-050',
    source: 'session-resources:consequences.2',
    owner: 'acp',
    text: 'The model and the person are told that a local link was not copied, and why',
  },
  {
    id: 'SR-051',
    source: 'session-resources:decision.8',
    owner: 'acp',
    text: 'A linked folder in the workspace lists at most 100 of its names to the model; a folder elsewhere lists none',
  },
  {
    id: 'SR-052',
    source: 'session-resources:decision.8',
    owner: 'acp',
    text: 'The Log has the text of a prompt as the person wrote it; the names of links are not added to it',
  },
  {
    id: 'SR-053',
    source: 'session-resources:consequences.3',
    owner: 'compaction',
    text: 'After a checkpoint, a link keeps its URL and that it was not fetched, or its name and why it was not copied',
    ruling: 'Also after the next checkpoint, and in a request of a resumed Session',
  },
  {
    id: 'SR-054',
    source: 'session-resources:consequences.3',
    owner: 'resources',
    text: '`resource_view` of a link fetches nothing, and answers with its URL and that it was not fetched, or with why it was not copied',
  },
]

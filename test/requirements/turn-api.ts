import type { Requirement } from './requirement.ts'

/** What the turn API does with attachments, shown over real HTTP. */
export const TURN_API: readonly Requirement[] = [
  {
    id: 'AT-062',
    source: 'attachments:REQ-01',
    owner: 'http',
    text: 'The turn API takes attachments as absolute paths in strings; nothing else that a client says about a file decides anything',
  },
  {
    id: 'AT-063',
    source: 'attachments:REQ-02',
    owner: 'http',
    text: 'The server reads and classifies every attachment of the turn API itself',
  },
  {
    id: 'AT-064',
    source: 'attachments:REQ-03',
    owner: 'http',
    text: 'The turn API accepts nine extensions in any case, and refuses every other',
  },
  {
    id: 'AT-065',
    source: 'attachments:REQ-04',
    owner: 'http',
    text: 'The turn API accepts regular files only: no folder, link, pipe, socket or device',
  },
  {
    id: 'AT-066',
    source: 'attachments:REQ-05',
    owner: 'http',
    text: 'The turn API accepts a file of 10 MiB, and none that is larger',
  },
  {
    id: 'AT-067',
    source: 'attachments:REQ-06',
    owner: 'http',
    text: 'The turn API accepts 18 MiB in the order of the request; a file that does not fit is refused alone',
  },
  {
    id: 'AT-068',
    source: 'attachments:REQ-07',
    owner: 'http',
    text: 'A partial failure over the turn API is a Turn whose request has the warning first',
  },
  {
    id: 'AT-069',
    source: 'attachments:REQ-08',
    owner: 'http',
    text: 'Total failure over the turn API leaves no trace of the paths in the Log',
  },
  {
    id: 'AT-070',
    source: 'attachments:REQ-09',
    owner: 'http',
    text: 'Blank text with an attachment that resolves is a Turn over the turn API',
  },
  {
    id: 'AT-071',
    source: 'attachments:REQ-10',
    owner: 'http',
    text: 'A Turn of the turn API without a resolved attachment is sent as a plain string',
    ruling:
      'In the dialect messages it is exactly one text block, because only a block can carry a cache mark',
  },
  {
    id: 'AT-072',
    source: 'attachments:REQ-11',
    owner: 'http',
    text: 'A Turn of the turn API with a resolved attachment is sent as content blocks',
    ruling: 'The form of the Agent SDK belongs to its engine',
  },
  {
    id: 'AT-073',
    source: 'attachments:REQ-12',
    owner: 'http',
    text: 'What the turn API resolves reaches the provider as image and document blocks, and every refused file is an error of its own',
  },
  {
    id: 'AT-074',
    source: 'attachments:REQ-13',
    owner: 'http',
    text: 'A missing or unreadable file is an error of that file over the turn API, with the path as the client sent it and a reason',
  },
]

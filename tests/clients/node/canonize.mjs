// Each request {"document": …}, a JSON-LD document, is answered by {"nquads": its RDFC-1.0 canonical form}.

import jsonld from 'jsonld';
import {serve} from './lines.mjs';
import {offlineLoader} from './loader.mjs';

const documentLoader = offlineLoader();

await serve(async ({document}) => ({
  nquads: await jsonld.canonize(document, {
    algorithm: 'RDFC-1.0', format: 'application/n-quads', base: null, safe: true, documentLoader,
  }),
}));
